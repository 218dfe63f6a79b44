"""A ledger computed once more from the platform's lines is the one that is stored; what was changed is named."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
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


@pytest.mark.parametrize("name", ["white", "url", "time_control", "clock_source", "precision_ms"])
def test_what_the_start_of_a_game_tells_is_that_of_its_setup(journal: Path, game: str, name: str) -> None:
    [(seq, data)] = entries(journal, game, "kirichess.game.started")
    change(journal, seq, {**data, name: {"initial_ms": 240_010, "increment_ms": 0} if name == "time_control" else 20})
    told = run("verify", "--journal", str(journal))
    assert told.exit_code == 1
    assert f"game {game}: {name} stored" in told.stderr


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


def execute(file: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as base:
        base.execute(statement, values)


def verified(file: Path, *chosen: str) -> str:
    """What is found wrong; one of the two games agrees."""
    told = run("verify", *chosen, "--journal", str(file))
    assert told.exit_code == 1
    if not chosen:
        assert told.stdout.startswith("2 games: 1 agree, 1 do not")
    assert "Traceback" not in told.stderr
    return told.stderr


@pytest.mark.parametrize("lines", ["lines", "no lines"])
@pytest.mark.parametrize("at", [0, 1, 7, -1])
def test_a_ply_that_went_is_named(journal: Path, game: str, at: int, lines: str) -> None:
    plies = list(entries(journal, game, "kirichess.game.ply"))
    seq, data = plies[at]
    execute(journal, "DELETE FROM event WHERE seq = ?", seq)
    if lines == "no lines":
        execute(journal, "DELETE FROM raw WHERE subject = ?", game)
    said = verified(journal)
    assert f"game {game}, ply {data['ply']}: " in said
    assert f"entry {seq} is missing: stored once, not pruned, and gone" in said


@pytest.mark.parametrize("kind", ["started", "finished"])
def test_the_start_or_the_end_that_went_is_noticed(journal: Path, game: str, kind: str) -> None:
    execute(journal, f"DELETE FROM event WHERE subject = ? AND type = 'kirichess.game.{kind}'", game)
    assert f"game {game}: " in verified(journal)


def test_a_final_verdict_that_went_is_named(journal: Path, game: str) -> None:
    execute(journal, "DELETE FROM event WHERE subject = ? AND type = ?", game, VERDICT_FINAL)
    for chosen in ([], [game]):
        assert f"game {game}: is over, and its final verdict is not stored" in verified(journal, *chosen)


def test_a_game_that_is_just_over_has_no_verdict_yet(journal: Path, game: str) -> None:
    """Not one that is over for long."""
    execute(journal, "DELETE FROM event WHERE subject = ? AND type = ?", game, VERDICT_FINAL)
    execute(journal, "UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM event) WHERE name = 'event'")
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        numbers = [seq for (seq,) in base.execute("SELECT seq FROM event ORDER BY seq")]
        for new, old in enumerate(numbers, 1):
            base.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))
        base.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'event'", (len(numbers),))
    assert run("verify", "--journal", str(journal)).exit_code == 0
    execute(journal, "UPDATE event SET time_ms = time_ms - 600000")
    assert "is over, and its final verdict is not stored" in verified(journal, game)


def test_the_last_entries_that_went_are_noticed(journal: Path) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        [(last,)] = base.execute("SELECT max(seq) FROM event")
        base.execute("DELETE FROM event WHERE seq > ?", (last - 2,))
    told = run("verify", "--journal", str(journal))
    assert told.exit_code == 1
    assert f"entries {last - 1} to {last} are missing" in told.stderr


def test_what_was_pruned_is_not_missing(journal: Path, game: str) -> None:
    execute(journal, "UPDATE event SET time_ms = 1 WHERE subject = ?", game)
    assert run("prune", "--forget-sink", "finals", "--journal", str(journal)).stdout.startswith("gone: 1 games")
    told = run("verify", "--journal", str(journal))
    assert (told.exit_code, told.stderr) == (0, "")
    assert told.stdout.startswith("1 games: 1 agree")


@pytest.mark.parametrize(
    ("written", "changed", "named"),
    [
        (r"\[%kclk (-?\d+)\]", lambda clock: f"[%kclk {int(clock) + 10}]", "ply 1: kclk the PGN says"),
        (r"\[%clk ([\d:.]+)\]", lambda clock: "[%clk 0:00:09]", "ply 1: clk the PGN says 0:00:09, the game gives"),
        (r'\[KiriResult "(.*)"\]', lambda _: '[KiriResult "*"]', ": KiriResult the PGN says *, the game gives"),
        (r'\[Result "(.*)"\]', lambda _: '[Result "*"]', ": Result the PGN says *, the game gives"),
        (r"(\S+)\s*$", lambda _: "*\n", ": the result behind the moves the PGN says *, the game gives"),
        (r"\s*\{ ?\[%[^}]*\}", lambda _: "", "ply 1: kclk the PGN says nothing, the game gives"),
    ],
)
def test_a_pgn_that_was_changed_is_named(
    journal: Path, game: str, written: str, changed: Callable[[str], str], named: str
) -> None:
    [(seq, data)] = entries(journal, game, VERDICT_FINAL)
    pgn = re.sub(written, lambda found: changed(found[found.lastindex or 0]), data["pgn"], count=1)
    assert pgn != data["pgn"]
    change(journal, seq, {**data, "pgn": pgn})
    assert named in verified(journal)


def test_a_text_that_was_changed_is_named(journal: Path, game: str) -> None:
    [(seq, data)] = entries(journal, game, VERDICT_FINAL)
    change(journal, seq, {**data, "text": "1-0 by magic"})
    assert f"game {game}: text the verdict's 1-0 by magic" in verified(journal)


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff\xfe", b"nothing", b'{"event": {"event": "moved"}}'])
def test_one_entry_that_is_damaged_leaves_the_others_readable(
    journal: Path, game: str, data: bytes, tmp_path: Path
) -> None:
    seq, _ = list(entries(journal, game, "kirichess.game.ply"))[4]
    execute(journal, "UPDATE event SET data = CAST(? AS TEXT) WHERE seq = ?", data, seq)
    assert re.search(rf"game {game}.*entry {seq}\b", verified(journal))
    if b"event" in data:
        return
    games = run("games", "--json", "--journal", str(journal))
    assert [json.loads(line)["id"] for line in games.stdout.splitlines()].count(game) == 1
    output = tmp_path / "all.jsonl"
    told = run("export", "-o", str(output), "--journal", str(journal))
    numbers = [int(json.loads(line)["sequence"]) for line in output.read_text().splitlines()]
    assert told.exit_code == 1
    assert f"entry {seq} is damaged" in told.stderr
    assert numbers == [number for number in range(1, numbers[-1] + 1) if number != seq]
    told = run("show", game, "--journal", str(journal))
    assert (told.exit_code, f"entry {seq} is damaged" in told.stderr, game in told.stderr) == (1, True, True)


@pytest.mark.parametrize("name", ["think_ms", "reading_ms", "uci"])
def test_a_field_of_another_kind_is_named(journal: Path, game: str, name: str) -> None:
    seq, data = list(entries(journal, game, "kirichess.game.ply"))[4]
    change(journal, seq, {**data, "event": {**data["event"], name: ["x"]}})
    assert f"game {game}, ply 5: " in verified(journal)


def test_a_time_that_is_none_is_named(journal: Path, game: str) -> None:
    seq, _ = list(entries(journal, game, "kirichess.game.ply"))[4]
    execute(journal, "UPDATE event SET time_ms = 1000000000000000 WHERE seq = ?", seq)
    for command in ("export", "games", "verify"):
        told = run(command, "--journal", str(journal))
        assert told.exit_code == 1 or command == "games"
        assert f"entry {seq} is damaged: its time is none" in told.stderr or command == "games"


def test_a_block_of_lines_that_is_damaged_leaves_the_others_readable(journal: Path, game: str) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        [(block,)] = base.execute("SELECT id FROM raw WHERE subject = ? LIMIT 1 OFFSET 6", (game,))
        base.execute("UPDATE raw SET data = x'00ff' WHERE id = ?", (block,))
    assert f"game {game}: block {block} of the platform's lines is damaged" in verified(journal)
    told = run("export", "--raw", "--journal", str(journal))
    assert told.exit_code == 1
    assert {json.loads(line)["game"] for line in told.stdout.splitlines()} >= {game}
    assert f"block {block}" in told.stderr


def test_a_page_of_the_file_that_is_damaged_leaves_what_stands_elsewhere_readable(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as base:
        pages = (
            base.execute(
                "SELECT pageno FROM dbstat WHERE name = 'event' AND pagetype = 'leaf' ORDER BY path"
            ).fetchall()
            if "ENABLE_DBSTAT_VTAB" in {o for (o,) in base.execute("PRAGMA compile_options")}
            else []
        )
        count = base.execute("SELECT count(*) FROM event").fetchone()[0]
    if not pages:
        pytest.skip("this SQLite does not tell where its pages are")
    with journal.open("r+b") as file:
        file.seek((pages[2][0] - 1) * 4096)
        file.write(b"\xff" * 4096)
    told = run("export", "--journal", str(journal))
    assert told.exit_code == 1
    assert 0 < told.stderr.count("is damaged: it cannot be read") == count - len(told.stdout.splitlines())
    told = run("verify", "--journal", str(journal))
    assert (told.exit_code, told.stdout[:9]) == (1, "2 games: ")


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


@pytest.mark.parametrize("gone", ["", "AND id = (SELECT min(id) FROM raw WHERE subject = :game)"])
def test_lines_that_should_be_there_and_are_gone_are_told(journal: Path, game: str, gone: str) -> None:
    execute(journal, f"DELETE FROM raw WHERE subject = :game {gone}".replace(":game", f"'{game}'"))
    said = verified(journal)
    assert re.search(f"game {game}: the (first of the )?platform's lines are not kept", said)
    told = run("replay", game, "--journal", str(journal))
    assert told.exit_code == 1
    assert "cannot be computed from its source" in told.stderr


def test_lines_that_were_let_go_are_told_and_prove_nothing(journal: Path, game: str) -> None:
    run("prune", "--raw-days", "0", "--journal", str(journal))
    told = run("verify", "--journal", str(journal))
    assert (told.exit_code, told.stdout) == (0, "2 games: 2 agree, 0 do not; 0 computed from the source\n")
    told = run("verify", game, "--journal", str(journal))
    assert told.exit_code == 0
    assert f"game {game}: not computed from its source: the platform's lines are not kept" in told.stderr


async def test_where_no_lines_are_kept_none_are_missing(tmp_path: Path) -> None:
    file = tmp_path / "journal.db"
    await one_run(file, ("e2e4", 240_000, 5))
    async with SqlJournal(f"sqlite:///{file}", raw_days=0):
        pass
    execute(file, "DELETE FROM raw")
    told = run("verify", "--journal", str(file))
    assert (told.exit_code, told.stdout) == (0, "1 games: 1 agree, 0 do not; 0 computed from the source\n")


def test_a_hole_in_the_lines_is_told(journal: Path, game: str) -> None:
    with closing(sqlite3.connect(journal, isolation_level=None)) as base:
        [(recorder,)] = base.execute(f"SELECT account FROM event WHERE subject = '{game}' AND type LIKE '%started'")
        mine = (game, f"bot:{recorder}")
        [(middle,)] = base.execute("SELECT id FROM raw WHERE subject = ? AND source = ? LIMIT 1 OFFSET 4", mine)
        base.execute("DELETE FROM raw WHERE id = ?", (middle,))
    told = run("verify", game, "--json", "--journal", str(journal))
    assert told.exit_code == 1
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
