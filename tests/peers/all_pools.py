"""lichess-bot and BotLi against our bot in every pool, and rated: `python -m tests.peers.all_pools`.

    python -m tests.peers.all_pools --lichess-bot CHECKOUT[=PYTHON] --botli CHECKOUT[=PYTHON] --games 20

CHECKOUT is a git checkout, PYTHON an interpreter that has its requirements. For each group of games a fresh arena, our
daemon and the peer as they are; nothing but loopback. The table replaces the part "All pools" of RESULTS.md beside
this file.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import chess

from bridge.arena import Account, Arena, RequestLine
from bridge.arena.challenges import Wish
from bridge.arena.control import TimeControl
from bridge.arena.exports import ExportOptions, export_json
from bridge.arena.game import Game
from tests.peers.contenders import Contender, our_daemon, their_bot
from tests.peers.launch import HERE, end_left, refused, start, stop
from tests.peers.peers import STOCKFISH, TOKEN
from tests.peers.pool_check import Witnessed
from tests.peers.pool_groups import GROUPS, OUR_TOKEN, OURS, PEER, Group, our_config, peer_config
from tests.peers.pool_table import Row, pools_part
from tests.peers.results import put_part, template
from tests.peers.rival import until_online

_AT_A_TIME = 3
_TAKEN_UP_S = 25.0
_LONGEST_S = 300.0
_FEW = 3
"""Games of a matchmaking that offers one a minute."""
_SOUGHT_S = 120.0
_LOOK_S = 0.05


async def play_group(ours: Contender, peer: Contender, group: Group, games: int, work: Path) -> Row:
    """So many games; both programs are ended afterwards, whatever happened."""
    log: list[RequestLine] = []
    accounts = [Account(PEER, TOKEN, title="BOT"), Account(OURS, OUR_TOKEN, title="BOT")]
    places = {contender: work / name for contender, name in ((ours, "ours"), (peer, "peer"))}
    async with Arena(accounts, request_log=log) as arena:
        homes = {
            ours: ours.settle_in(_made(places[ours]), arena.url, STOCKFISH, lambda _: our_config(arena.url, group)),
            peer: peer.settle_in(_made(places[peer]), arena.url, STOCKFISH, lambda found: peer_config(found, group)),
        }
        running, trouble = list[asyncio.subprocess.Process](), list[str]()
        try:
            # Ours first: BotLi looks for opponents when it comes, and then not for half an hour.
            for each, name in ((ours, OURS), (peer, PEER)):
                running.append(await start(each.interpreter, _command(each, group), homes[each], places[each]))
                await until_online(arena, name.lower(), 60)
            trouble += await _play(arena, group, 1 if group.seeker else games)
            if group.seeker:
                trouble += await _await_games(arena, 1 + _FEW)
            traces = _traces(places[peer])
        except Exception:
            for place in list(places.values())[: len(running)]:
                sys.stderr.write((place / "output").read_text(errors="replace")[-4000:])
            raise
        finally:
            for process in running:
                await stop(process, 15.0)
            for home in homes.values():
                end_left(home)
        witnessed = await asyncio.to_thread(_witnessed, arena, group, log, homes[ours], ours)
        return Row(
            peer.name, group, witnessed, trouble, _not_200(log), _logged(places[ours]) + traces, refused(places[peer])
        )


def _command(contender: Contender, group: Group) -> tuple[str, ...]:
    seeks = contender.name == "BotLi" and group.seeker == PEER
    return (*contender.command(), "matchmaking") if seeks else contender.command()


def _made(place: Path) -> Path:
    place.mkdir(parents=True)
    return place / "home"


# -- playing -----------------------------------------------------------------------------------------------------


async def _play(arena: Arena, group: Group, games: int) -> list[str]:
    """Challenge and be challenged, in turn; answers what came in between."""
    numbers, door, trouble = iter(range(games)), asyncio.Lock(), list[str]()

    async def several() -> None:
        for number in numbers:
            trouble.extend(await _play_one(arena, group, number, door))

    await asyncio.gather(*(several() for _ in range(_AT_A_TIME)))
    return trouble


async def _await_games(arena: Arena, games: int) -> list[str]:
    """The programs find each other by themselves."""
    if await _within(_SOUGHT_S * games, lambda: sum(game.over for game in arena.games.values()) >= games):
        return []
    return [f"{len(arena.games)} of {games} games came about within {_SOUGHT_S * games:g} s"]


async def _play_one(arena: Arena, group: Group, number: int, door: asyncio.Lock) -> list[str]:
    """Challenge and wait for the end; answers what came in between, if anything.

    Through the `door` games begin one after the other: two that begin at once lichess-bot can take for one and the
    same, since both are handed to its workers in one and the same dictionary.
    """
    asker, asked = (OURS, PEER) if number % 2 else (PEER, OURS)
    color = chess.COLOR_NAMES[number // 2 % 2]
    wish = Wish(group.clock(number), "standard", None, group.rated, color, frozenset())
    async with door:
        challenge = arena.desk.create(arena.account(asker), arena.account(asked), wish)
        if not await _within(_TAKEN_UP_S, lambda: challenge.id in arena.games):
            reason = challenge.decline_reason or "no reason given"
            return [f"{asker}'s challenge {challenge.id} became no game: {challenge.status.value}, {reason}"]
        game = arena.games[challenge.id]
        await _within(_LONGEST_S, lambda: game.over or game.plies > 1)
    over = await _within(_LONGEST_S, lambda: game.over)
    return [] if over else [f"{game.id}: not over after {_LONGEST_S:g} s and {game.plies} plies"]


async def _within(patience_s: float, so: Callable[[], bool]) -> bool:
    """Wait until it is so, for no longer than that."""
    try:
        async with asyncio.timeout(patience_s):
            while not so():
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        return False
    return True


# -- what is known afterwards ------------------------------------------------------------------------------------


def _witnessed(arena: Arena, group: Group, log: list[RequestLine], home: Path, ours: Contender) -> list[Witnessed]:
    games = list(arena.games.values())
    events = list(_json_lines(_ask(ours, home, "journal", "export", "--journal", "journal.db")))
    by_pool: dict[str, list[Game]] = {}
    for game in games:
        assert isinstance(game.control, TimeControl)
        by_pool.setdefault(group.judged_by(game.control), []).append(game)
    judged = {verdict["id"]: verdict for pool in by_pool for verdict in _judged(by_pool[pool], pool, home, ours)}
    return [
        Witnessed(
            game=game,
            us=game.white.name == OURS,
            pool=group.pool,
            events=[event for event in events if event.get("subject") == game.id],
            judged=judged.get(game.id),
            requests=[line.path for line in log if line.account == OURS.lower() and game.id in line.path],
            said=[
                str(line["text"])
                for room in ("player", "spectator")
                for line in arena.hall.chats[game.id, room]
                if line["user"] == OURS
            ],
        )
        for game in games
    ]


def _judged(games: list[Game], pool: str, home: Path, ours: Contender) -> Iterator[dict[str, Any]]:
    """What `adjudicate` says of the arena's exports."""
    exports = home / f"{pool}.ndjson"
    exports.write_text(
        "".join(f"{json.dumps(export_json(game, ExportOptions()))}\n" for game in games), encoding="utf-8"
    )
    return _json_lines(_ask(ours, home, "adjudicate", exports.name, "--pool", pool, "--format", "jsonl"))


def _ask(ours: Contender, home: Path, *arguments: str) -> str:
    """What one of our commands prints; what it complains of is shown, and leaves a game without its verdict."""
    command = [ours.interpreter, "-m", "bridge.cli.main", *arguments]
    done = subprocess.run(command, cwd=home, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout


def _json_lines(text: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in text.splitlines())


def _not_200(log: list[RequestLine]) -> Counter[str]:
    return Counter(
        f"{line.account or 'nobody'}: {line.status or 'no answer'} to {line.method} `{template(line.path)}`"
        for line in log
        if line.status != 200 and not (line.status == 0 and "stream" in line.path)
    )


def _logged(ours: Path) -> Counter[str]:
    """Our warnings and errors."""
    found: Counter[str] = Counter()
    for line in (ours / "output").read_text(errors="replace").splitlines():
        # What is no JSON is the games, as `run` tells them.
        entry = json.loads(line) if line.startswith("{") else {}
        if entry.get("level", "info") not in ("info", "debug"):
            found[f"we logged {entry['level']} {entry['event']}"] += 1
        if line.startswith("Traceback"):
            found["we printed a trace"] += 1
    return found


def _traces(peer: Path) -> Counter[str]:
    """While it plays: interrupted, BotLi prints some."""
    count = (peer / "output").read_text(errors="replace").count("Traceback (most recent call last)")
    return Counter({"it printed a trace": count} if count else {})


# -- the whole ---------------------------------------------------------------------------------------------------


async def play_all(ours: Contender, peers: list[Contender], groups: list[Group], games: int, work: Path) -> list[Row]:
    """One group after the other: the processors are few."""
    rows = []
    for peer in peers:
        for number, group in enumerate(groups):
            rows.append(await play_group(ours, peer, group, games, work / f"{peer.name}-{number}"))
            sys.stderr.write("\n".join([rows[-1].line(), *rows[-1].faults, ""]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lichess-bot", metavar="CHECKOUT[=PYTHON]")
    parser.add_argument("--botli", metavar="CHECKOUT[=PYTHON]")
    parser.add_argument("--games", type=int, default=20, help="of each group")
    parser.add_argument("--only", default="", help="groups whose name holds this; nothing is written then")
    parser.add_argument("--keep", type=Path, help="a folder for what the programs print and leave behind")
    arguments = parser.parse_args()
    given = [checkout for checkout in (arguments.lichess_bot, arguments.botli) if checkout]
    if not given:
        parser.error("give a checkout: --lichess-bot DIR, --botli DIR, or both")
    groups = [group for group in GROUPS if arguments.only in group.name]
    with tempfile.TemporaryDirectory() as folder:
        work = (arguments.keep or Path(folder)).resolve()
        work.mkdir(exist_ok=True)
        ours, peers = our_daemon(work), [their_bot(checkout, work) for checkout in given]
        rows = asyncio.run(play_all(ours, peers, groups, arguments.games, work))
    part = pools_part(rows, ours, peers, arguments.games)
    if arguments.only or len(given) < 2:
        sys.stdout.write(part)
    else:
        put_part(HERE / "RESULTS.md", "All pools", part)


if __name__ == "__main__":
    main()
