"""lichess-bot, BotLi and our own daemon through the same faults: `python -m tests.peers.side_by_side CHECKOUT…`.

One after the other, on one machine, each scenario with a fresh process and a fresh arena; the same scripted engine,
the same moves, the same clock (30+1), nothing but loopback. CHECKOUT is a git checkout of lichess-bot or BotLi, or
`CHECKOUT=PYTHON` with an interpreter that has its requirements. The table replaces the part "Side by side" of
RESULTS.md beside this file.
"""

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bridge.arena import Account, Arena, ArenaSettings, RequestLine
from tests.peers.contenders import ENGINE, Contender, make_engine, our_daemon, their_bot
from tests.peers.launch import HERE, end_left, refused, start, stop
from tests.peers.peers import TOKEN
from tests.peers.process_tree import ProcessTree
from tests.peers.results import put_part
from tests.peers.rival import until_online
from tests.peers.scenarios import PEER, SCENARIOS, Scenario, Stage, a_line
from tests.peers.side_table import Measured, side_by_side_part
from tests.peers.table_rival import Played, TableRival

_LONGEST_S = 60.0
_SETTLE_S = 1.0


async def measure(contender: Contender, scenario: Scenario, line: list[str], work: Path) -> Measured:
    """One program through one scenario."""
    stage, log = Stage(), list[RequestLine]()
    accounts = [Account("Peer", TOKEN, title="BOT"), Account("Rival", "lip_human_Rival")]
    async with Arena(accounts, ArenaSettings(seed=1), faults=stage, request_log=log) as arena:
        stage.arena = arena
        engine = make_engine(work / "engine", line, scenario.engine)
        home = contender.settle_in(work / "home", arena.url, engine)
        process = await start(contender.interpreter, contender.command(), home, work)
        try:
            await until_online(arena, PEER, 60)
            await asyncio.sleep(_SETTLE_S)
            tree = ProcessTree(process.pid, ENGINE)
            tree.look()
            before_ms, asked = tree.used_ms, len(log)
            watching = asyncio.create_task(tree.watch())
            played = await _play(stage, scenario, line)
            watching.cancel()
            tree.look()
        except Exception:
            sys.stderr.write((work / "output").read_text(errors="replace")[-4000:])
            raise
        finally:
            await stop(process, 2.0)
            await asyncio.sleep(_SETTLE_S)
            left = end_left(home)
        requests = Counter(entry.status for entry in log[asked:] if entry.account == PEER)
        used_ms = tree.used_ms - before_ms
        return Measured(contender.name, scenario, played, requests, tree.peak_bytes, used_ms, refused(work), left)


async def _play(stage: Stage, scenario: Scenario, line: list[str]) -> list[Played]:
    """All games of a scenario at once, for no longer than it may last."""
    if scenario.always is not None:
        scenario.always(stage)
    struck = asyncio.Event()
    rivals = [TableRival(stage, line, plan, struck) for plan in scenario.plans]
    tasks = [asyncio.create_task(rival.play()) for rival in rivals]
    done, late = await asyncio.wait(tasks, timeout=_LONGEST_S)
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    for task in done:
        task.result()
    return [rival.played for rival in rivals]


async def compare(contenders: list[Contender], scenarios: list[Scenario], work: Path) -> list[Measured]:
    """Each program through all scenarios before the next one begins."""
    line, rows = a_line(), []
    for contender in contenders:
        for number, scenario in enumerate(scenarios):
            rows.append(await measure(contender, scenario, line, work / f"{contender.name}-{number}"))
            sys.stderr.write(f"{rows[-1].line()}\n")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", metavar="CHECKOUT[=PYTHON]")
    parser.add_argument("--only", default="", help="scenarios whose name holds this; nothing is written then")
    parser.add_argument("--keep", type=Path, help="a folder for what the programs print and leave behind")
    arguments = parser.parse_args()
    scenarios = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    with tempfile.TemporaryDirectory() as folder:
        work = (arguments.keep or Path(folder)).resolve()
        work.mkdir(exist_ok=True)
        contenders = [*(their_bot(given, work) for given in arguments.checkouts), our_daemon(work)]
        rows = asyncio.run(compare(contenders, scenarios, work))
    part = side_by_side_part(rows, contenders)
    if arguments.only:
        sys.stdout.write(part)
    else:
        put_part(HERE / "RESULTS.md", "Side by side", part)


if __name__ == "__main__":
    main()
