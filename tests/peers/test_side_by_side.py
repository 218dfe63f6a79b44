"""The comparison counts what it says it counts."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.peers.process_tree import ProcessTree
from tests.peers.results import put_part
from tests.peers.scenarios import SCENARIOS, Plan, Scenario, a_line
from tests.peers.scripted_engine import answer
from tests.peers.side_table import Measured
from tests.peers.table_rival import Played, Turn

FIRST, QUICK, SLOW = Turn(0, 5000, False, True), Turn(0, 900, False, False), Turn(0, 1100, False, False)


def measured(*turns: Turn, lost: str = "", allowed_s: float = 0.0) -> Measured:
    plan = Plan()
    played = [Played(plan, list(turns), lost)]
    return Measured(
        "some-bot", Scenario("x", (plan,), allowed_s), played, Counter({200: 3, 429: 1}), 0, 40.0, Counter()
    )


@pytest.mark.parametrize(
    ("turns", "allowed_s", "late"),
    [
        ((FIRST, QUICK), 0, 0),
        ((FIRST, SLOW), 0, 1),
        ((SLOW,), 5, 1),
        ((Turn(0, 5900, True, False),), 5, 0),
        ((Turn(0, 6100, True, False),), 5, 1),
        ((Turn(0, None, True, False),), 60, 1),
    ],
)
def test_late_is_a_second_beyond_the_fault(turns: tuple[Turn, ...], allowed_s: float, late: int) -> None:
    assert measured(*turns, allowed_s=allowed_s).late == late


def test_the_first_move_after_a_fault_is_the_slowest_or_never_came() -> None:
    struck, never = Turn(0, 2500, True, False), Turn(0, None, True, False)
    assert measured(QUICK, struck, SLOW).after_fault == "2.50"
    assert measured(struck, never).after_fault == "never"
    assert measured(lost="not taken up").after_fault == "never"
    assert measured(FIRST, QUICK).after_fault == "–"


def test_a_row_tells_losses_and_answers_that_were_no_success() -> None:
    row = measured(FIRST, QUICK, lost="flag").line()
    assert "| 1 of 1 | 0 | 4 |" in row
    assert "| 20.0 |" in row
    assert "flag; 1× 429" in row


def test_both_sides_can_play_the_line_for_longer_than_any_scenario() -> None:
    line = a_line()
    assert len(line) > max(plan.plies for scenario in SCENARIOS for plan in scenario.plans)
    assert answer(line, line[:9]) == line[9]
    assert answer(line, ["a2a3"]) != line[1]


async def test_what_children_use_counts_and_what_engines_use_does_not(tmp_path: Path) -> None:
    burn = "from time import process_time\nwhile process_time() < 0.3: pass\nprint(flush=True)\ninput()\n"
    for name in ("child.py", "an_engine.py"):
        (tmp_path / name).write_text(burn)
    start = "import subprocess, sys\nsubprocess.run([sys.executable, f'./{sys.argv[1]}.py'])"
    used = {}
    for name in ("child", "an_engine"):
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            start,
            name,
            cwd=tmp_path,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        tree = ProcessTree(process.pid, "./an_engine.py")
        watching = asyncio.create_task(tree.watch(0.05))
        await process.stdout.readline()
        watching.cancel()
        tree.look()
        await process.communicate(b"\n")
        used[name] = tree.used_ms
        assert tree.peak_bytes > 0
    assert used["child"] - used["an_engine"] > 200


def test_a_part_takes_the_place_of_the_one_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "RESULTS.md"
    for name, text in (("one", "first\n"), ("two", "second\n"), ("one", "third\n")):
        put_part(file, name, text)
    text = file.read_text()
    assert "first" not in text
    assert text.index("third") < text.index("second")
