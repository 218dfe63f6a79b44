"""What a program is told beside the moves: whom it plays, where the tables are, where it runs."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess.engine
import pytest

from bridge.account_engines import AccountEngines
from bridge.engines.build import build_engine
from bridge.engines.locate import installed
from bridge.engines.process import ProcessEngine
from bridge.engines.spec import EngineSpec
from bridge.engines.transcript import Transcripts
from bridge.engines.warm import WarmEngines
from bridge.errors import EngineError
from bridge.interfaces import Limit, Player, Ponders
from bridge.rules.ledger import Ledger
from bridge.settings.models import Settings

Game = Callable[..., Ledger]
Limits = Callable[..., Limit]

PROGRAM = """#!{python}
import os, sys

heard = open(os.path.join({folder!r}, "heard"), "a")
print(os.getcwd(), file=heard, flush=True)
for line in sys.stdin:
    print(line.strip(), file=heard, flush=True)
    words = line.split()
    if words[0] == "uci":
        for option in {options!r}:
            print(f"option name {{option}} type string default x")
        print("option name SyzygyProbeLimit type spin default 7 min 0 max 7")
        print("uciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "go":
        print("bestmove e2e4", flush=True)
    elif words[0] == "quit":
        break
"""


def program(folder: Path, *options: str) -> str:
    file = folder / "fish"
    file.write_text(PROGRAM.format(python=sys.executable, folder=str(folder), options=options))
    file.chmod(0o755)
    return str(file)


def heard(folder: Path) -> list[str]:
    return (folder / "heard").read_text().splitlines()


def only_file(folder: Path) -> str:
    (file,) = folder.iterdir()
    return file.read_text()


async def test_a_program_that_asks_is_told_whom_it_plays_once_in_each_game(
    tmp_path: Path, game: Game, limit: Limits
) -> None:
    settings = Settings.model_validate(
        {"engines": {"fish": {"kind": "uci", "path": program(tmp_path, "UCI_Opponent")}}, "engine_limits": {"idle": 1}}
    )
    engines = AccountEngines(settings, build_engine)
    for number, player in enumerate([Player("ann", "Ann", "GM", 2600), Player("bob", "Bob", "BOT")]):
        engine = engines.lend("Kiri", {}, "fish", f"game000{number}", player)
        await engine.start()
        for _ in range(2):
            await engine.think(game(game_id=f"game000{number}"), limit())
        await engine.close()
    await engines.close()
    told = [line for line in heard(tmp_path) if line.startswith("setoption name UCI_Opponent")]
    assert list(dict.fromkeys(told)) == [
        "setoption name UCI_Opponent value GM 2600 human Ann",
        "setoption name UCI_Opponent value BOT none computer Bob",
    ]
    assert [line for line in heard(tmp_path) if line == "uci"] == ["uci"], "it is one program, kept warm"


@pytest.mark.parametrize(
    ("options", "given", "path"),
    [(("SyzygyPath",), {}, "/tables"), (("SyzygyPath",), {"SyzygyPath": "/mine"}, "/mine"), ((), {}, None)],
)
async def test_a_program_is_told_of_the_tables_unless_it_has_its_own(
    tmp_path: Path, options: tuple[str, ...], given: dict[str, str], path: str | None
) -> None:
    engine = ProcessEngine(program(tmp_path, *options), options=given, suggested={"syzygypath": "/tables"})
    await engine.start()
    await engine.close()
    told = [line for line in heard(tmp_path) if "SyzygyPath" in line]
    assert told == ([] if path is None else [f"setoption name SyzygyPath value {path}"])


async def test_a_program_runs_where_it_is_told_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    engine = ProcessEngine(program(tmp_path), working_dir=str(tmp_path / "there"))
    await engine.start()
    await engine.close()
    assert heard(tmp_path)[0] == str(tmp_path / "there")
    with pytest.raises(EngineError, match="is no folder"):
        await ProcessEngine(program(tmp_path), working_dir=str(tmp_path / "nowhere")).start()


@pytest.mark.skipif(not installed("stockfish"), reason="no stockfish")
@pytest.mark.parametrize("ponder", [True, False])
async def test_after_a_move_from_a_book_a_program_thinks_on_until_it_is_asked(
    tmp_path: Path, game: Game, limit: Limits, ponder: bool
) -> None:
    logs = Transcripts(tmp_path, 1_000_000, lambda: 0)
    spec = EngineSpec("uci", "stockfish", {"Hash": 16}, ponder=ponder)
    warm = WarmEngines(1, build_engine)
    engine = warm.lend(spec, logs.of("game0001", "Kiri"))
    await engine.start()
    assert isinstance(engine, Ponders)
    engine.ponder(game(), "e2e4")
    await asyncio.sleep(0.3)
    engine.ponder(game(moves="e2e4 e7e5"), "g1f3")
    await asyncio.sleep(0.3)
    choice = await engine.think(game(moves="e2e4 e7e5 g1f3 b8c6"), replace(limit(), plain=True))
    assert choice.uci
    await engine.close()
    again = warm.lend(spec)
    await again.start()
    await again.close()
    await warm.close()
    await logs.close()
    told = only_file(tmp_path)
    assert ("position startpos moves e2e4 e7e5 g1f3\n" in told) is ponder
    assert told.count("go infinite") == (2 if ponder else 0)


@pytest.mark.skipif(not installed("fairy-stockfish"), reason="no fairy-stockfish")
async def test_an_xboard_program_is_told_as_well(game: Game, limit: Limits) -> None:
    engine = ProcessEngine("fairy-stockfish", protocol="xboard")
    engine.meet(chess.engine.Opponent("Ann", None, 2000, False))
    await engine.start()
    assert (await engine.think(game(), limit(500))).uci
    await engine.close()
