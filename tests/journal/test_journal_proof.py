"""A ledger computed once more from the platform's lines is the one that is stored; what was changed is named."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bridge.arena import Account, Arena, referee
from bridge.cli.main import main
from bridge.daemon import Daemon
from bridge.event_types import VERDICT_FINAL
from bridge.interfaces import Entry, GameOpened
from bridge.journal import SqlJournal
from bridge.journal.reader import JournalReader
from bridge.platforms.lichess.wire import parse_game_line
from bridge.rules.pools import named
from bridge.settings.models import Settings
from bridge.tracker import Tracker


class UntilFinals:
    """A sink that drains the daemon after so many final verdicts."""

    name = "finals"

    def __init__(self, count: int) -> None:
        self.left = count
        self.daemon: Daemon

    async def write(self, entry: Entry) -> None:
        if entry.type == VERDICT_FINAL:
            self.left -= 1
            if self.left == 0:
                self.daemon.drain()

    async def close(self) -> None:
        pass


def settings(arena: Arena, file: Path, **more: object) -> Settings:
    accounts = [
        {
            "platform": "lichess",
            "url": arena.url,
            "token": f"secret-{name}",
            "play": {"engine": engine, "pool": "winder", "concurrency": 8, "move_overhead": 20},
        }
        for name, engine in (("Dice", "dice"), ("Kiri", "kiri"))
    ]
    engines = {"dice": {"kind": "random", "seed": 1}, "kiri": {"kind": "kiri", "seed": 1}}
    return Settings.model_validate(
        {"accounts": accounts, "engines": engines, "journal": {"url": f"sqlite:///{file}"}, **more}
    )


async def play(file: Path, games: int) -> list[str]:
    """Games of two bots in one daemon, whose journal is `file`; a third account is watched by nobody."""
    bots = [Account(name, f"secret-{name}", title="BOT") for name in ("Dice", "Kiri")]
    async with Arena(bots) as arena:
        sink = UntilFinals(games)
        daemon = sink.daemon = Daemon(settings(arena, file), sinks=[sink], think_cap_ms=5)
        ids = [arena.pair("Dice", "Kiri", 240) if i % 2 else arena.pair("Kiri", "Dice", 240) for i in range(games)]
        await daemon.run()
    return ids


async def watch(file: Path, token: str, subject: Mapping[str, str]) -> str:
    """A game that is moved by hand on the arena, watched by a daemon whose journal is `file`."""
    bots = [Account(name, f"secret-{name}", title="BOT") for name in ("Dice", "Kiri")]
    async with Arena([*bots, Account("Human", "secret-Human")]) as arena:
        game = arena.games[arena.pair("Dice" if token == "secret-Dice" else "Human", "Kiri", 540)]
        watched = {"pool": "winder", **(subject or {"game": game.id})}
        watching = Settings.model_validate(
            {
                "accounts": [{"platform": "lichess", "url": arena.url, "token": token}],
                "watch": [watched],
                "journal": {"url": f"sqlite:///{file}"},
            }
        )
        sink = UntilFinals(1)
        sink.daemon = Daemon(watching, sinks=[sink])
        work = asyncio.create_task(sink.daemon.run())
        await sink.daemon.ready.wait()
        await asyncio.sleep(0.3)
        hall = arena.hall
        for uci in ("e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "f3g5", "d7d5", "e4d5", "c6a5"):
            hall.move(game, game.turn, uci)
            await asyncio.sleep(0.05)
        hall.happen(game, referee.resign(game, game.turn, hall.game_now_ms(game)))
        await work
    return game.id


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    file = tmp_path_factory.mktemp("played") / "journal.db"
    return file, asyncio.run(play(file, 2))


@pytest.fixture
def journal(played: tuple[Path, list[str]], tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    copy = tmp_path / "journal.db"
    copy.write_bytes(played[0].read_bytes())
    return copy


@pytest.fixture
def game(played: tuple[Path, list[str]]) -> str:
    return played[1][0]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["journal", *arguments])


def entries(file: Path, game: str, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
    with closing(sqlite3.connect(file)) as base:
        for seq, data in base.execute("SELECT seq, data FROM event WHERE subject = ? AND type = ?", (game, kind)):
            yield seq, json.loads(data)


def change(file: Path, seq: int, data: Mapping[str, object]) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute("UPDATE event SET data = ? WHERE seq = ?", (json.dumps(data), seq))


def test_what_was_played_is_proved(journal: Path) -> None:
    told = run("verify", "--journal", str(journal))
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout == "2 games: 2 agree, 0 do not; 2 computed from the source\n"


@pytest.mark.parametrize("name", ["white_ms", "black_ms", "platform_white_ms", "platform_black_ms"])
def test_a_clock_after_a_ply_that_is_10_ms_off_is_named(journal: Path, game: str, name: str) -> None:
    seq, data = list(entries(journal, game, "kirichess.game.ply"))[6]
    change(journal, seq, {**data, name: data[name] + 10})
    told = run("verify", "--journal", str(journal))
    assert told.exit_code == 1
    assert f"game {game}, ply 7: {name} stored {data[name] + 10}, its events give {data[name]}" in told.stderr
    assert told.stdout.startswith("2 games: 1 agree, 1 do not")


@pytest.mark.parametrize("name", ["reading_ms", "think_ms"])
def test_a_reading_that_is_10_ms_off_is_named(journal: Path, game: str, name: str) -> None:
    seq, data = list(entries(journal, game, "kirichess.game.ply"))[8]
    event = {**data["event"], name: data["event"][name] + 10}
    change(journal, seq, {**data, "event": event})
    told = run("verify", game, "--journal", str(journal))
    assert told.exit_code == 1
    line = f"game {game}, ply 9: {name} stored {event[name]}, the platform's lines give {data['event'][name]}"
    assert line in told.stderr


def test_a_clock_in_the_final_verdict_that_is_10_ms_off_is_named(journal: Path, game: str) -> None:
    [(seq, data)] = entries(journal, game, VERDICT_FINAL)
    data["verdict"]["ledger"][4]["black_ms"] -= 10
    change(journal, seq, data)
    told = run("verify", game, "--json", "--journal", str(journal))
    assert told.exit_code == 1
    assert f"game {game}, ply 5: black_ms the verdict's ledger says" in told.stderr
    found = json.loads(told.stdout)
    assert (found["agrees"], found["differences"][0]["ply"], found["not_recomputed"]) == (False, 5, "")


def test_an_event_that_went_is_named(journal: Path, game: str) -> None:
    seq, _ = list(entries(journal, game, "kirichess.game.ply"))[-1]
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        base.execute("DELETE FROM event WHERE seq = ?", (seq,))
    told = run("verify", game, "--journal", str(journal))
    assert told.exit_code == 1
    assert f"game {game}" in told.stderr


def test_the_lines_of_a_running_game_may_be_ahead_of_its_events(journal: Path, game: str) -> None:
    seq, _ = list(entries(journal, game, "kirichess.game.ply"))[10]
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        base.execute("DELETE FROM event WHERE subject = ? AND seq > ?", (game, seq))
    assert run("verify", game, "--journal", str(journal)).exit_code == 0


def test_a_replay_gives_the_stored_verdict(journal: Path, game: str) -> None:
    told = run("replay", game, "--json", "--ledger", "--journal", str(journal))
    [(_, data)] = entries(journal, game, VERDICT_FINAL)
    assert json.loads(told.stdout) == data["verdict"]
    assert run("replay", game, "--journal", str(journal)).stdout == f"{data['text']}\n"


def test_lines_that_are_gone_are_told_and_prove_nothing(journal: Path, game: str) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        base.execute("DELETE FROM raw WHERE subject = ?", (game,))
    told = run("verify", game, "--journal", str(journal))
    assert told.exit_code == 0
    assert f"game {game}: not computed from its source: the platform's lines are not kept" in told.stderr
    told = run("replay", game, "--journal", str(journal))
    assert told.exit_code == 1
    assert "cannot be computed from its source" in told.stderr


def test_a_hole_in_the_lines_is_told(journal: Path, game: str) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        [(recorder,)] = base.execute(f"SELECT account FROM event WHERE subject = '{game}' AND type LIKE '%started'")
        mine = (game, f"bot:{recorder}")
        [(middle,)] = base.execute("SELECT id FROM raw WHERE subject = ? AND source = ? LIMIT 1 OFFSET 4", mine)
        base.execute("DELETE FROM raw WHERE id = ?", (middle,))
    told = run("verify", game, "--json", "--journal", str(journal))
    assert json.loads(told.stdout)["not_recomputed"] == "some of the platform's lines were not stored"


def test_no_token_is_kept(played: tuple[Path, list[str]]) -> None:
    told = run("export", "--raw", "--journal", str(played[0]))
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert {line["source"] for line in lines} == {"bot:Dice", "bot:Kiri"}
    assert any('"gameFull"' in line["line"] for line in lines)
    assert not re.search("secret-|Authorization|Bearer", told.stdout)
    assert b"secret-" not in played[0].read_bytes()


ME = {"account": "me"}


@pytest.mark.parametrize(
    ("token", "subject", "sources"),
    [
        ("secret-Human", {}, {"spectator", "export"}),
        ("secret-Human", ME, {"board"}),
        ("secret-Dice", ME, {"bot:Dice"}),
    ],
)
async def test_a_watched_game_is_proved_too(
    tmp_path: Path, token: str, subject: dict[str, str], sources: set[str]
) -> None:
    file = tmp_path / "journal.db"
    game = await watch(file, token, subject)
    with JournalReader(file) as reader:
        assert {block.source for block in reader.raw(game)} >= sources
    told = run("verify", "--journal", str(file))
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout == "1 games: 1 agree, 0 do not; 1 computed from the source\n"
    [(seq, data)] = entries(file, game, VERDICT_FINAL)
    assert json.loads(run("replay", game, "--json", "--ledger", "--journal", str(file)).stdout) == data["verdict"]
    data["verdict"]["ledger"][4]["black_ms"] -= 10
    change(file, seq, data)
    told = run("verify", "--journal", str(file))
    assert told.exit_code == 1
    assert f"game {game}, ply 5: black_ms" in told.stderr


CONTROL = {"initial": 240_000, "increment": 0}


def full(moves: str, left_ms: int) -> bytes:
    state = {"type": "gameState", "moves": moves, "wtime": left_ms, "btime": left_ms, "status": "started"}
    players = {"white": {"id": "a", "name": "A"}, "black": {"id": "b", "name": "B"}}
    return json.dumps({"type": "gameFull", "id": "game0001", **players, "clock": CONTROL, "state": state}).encode()


async def one_run(file: Path, *readings: tuple[str, int, int], unheard: tuple[str, int, int] | None = None) -> None:
    """What a program does until it is killed: its last line may be stored, and what came of it not."""
    async with SqlJournal(f"sqlite:///{file}") as journal:
        tracker = Tracker("game0001", "A", journal, lambda: 0)
        journal.keep("game0001", "bot:A", b"", 0)
        for moves, left_ms, at_ms in readings:
            line = full(moves, left_ms)
            journal.keep("game0001", "bot:A", line, at_ms)
            message = parse_game_line(line, at_ms=at_ms, site="https://lichess.org")
            assert isinstance(message, GameOpened)
            if not tracker.is_open:
                await tracker.open(message.info, named("winder"), source="stream", precision_ms=10)
            await tracker.take(message.snapshot)
        if unheard is not None:
            journal.keep("game0001", "bot:A", full(unheard[0], unheard[1]), unheard[2])
        tracker.close()


async def test_a_line_that_came_just_before_the_program_was_killed_is_no_difference(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    await one_run(
        file, ("e2e4", 240_000, 5), ("e2e4 e7e5 g1f3", 235_000, 9), unheard=("e2e4 e7e5 g1f3 b8c6", 231_000, 12)
    )
    await one_run(file, ("e2e4 e7e5 g1f3 b8c6", 229_000, 3), ("e2e4 e7e5 g1f3 b8c6 f1c4", 220_000, 8))
    told = run("verify", "game0001", "--journal", str(file))
    assert (told.exit_code, told.stderr) == (0, "")
    assert "1 computed from the source" in told.stdout
    seq, data = list(entries(file, "game0001", "kirichess.game.ply"))[3]
    change(file, seq, {**data, "event": {**data["event"], "reading_ms": 229_010}})
    told = run("verify", "game0001", "--journal", str(file))
    assert "game game0001, ply 4: reading_ms stored 229010, the platform's lines give" in told.stderr
