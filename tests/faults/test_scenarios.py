"""Every reported bug and every fault of the table has tests that exist, or a reason why it has none."""

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
NUMBERS = {
    "K01": (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21),
    "K02": (24, 26, 28, 30, 32, 34, 36, 38),
    "K03": (39, 41, 43, 45),
    "K04": (48, 50, 52, 54, 56, 58, 60),
    "K05": (61, 63, 65, 67, 69, 71, 73),
    "K07": (83, 85, 87, 89, 91, 93),
    "K08": (96, 98, 100, 102, 104, 106, 108, 110, 112),
    "K09": (113, 115, 117, 119, 121, 123),
    "K10": (126, 128),
    "K14": (162, 164, 166),
    "K15": (167, 169, 171),
}
"""The reports, which have gaps between their numbers."""
SCENARIOS = tomllib.loads((TESTS / "faults" / "scenarios.toml").read_text())
TABLE = (TESTS / "faults" / "TABLE.md").read_text()
ROWS = [line for line in TABLE.splitlines() if line.startswith("| ")][1:]
ASKED = (
    (
        "event stream + clean end + reset + silence + 5xx + junk + second reader",
        "within 1 s + 16 s + nothing started twice",
    ),
    ("429 + JSON + page + any stream or call", "figure given + Retry-After + 60 s + other games"),
    ("game stream + the same + any ply + several times", "within 1 s + owed move + ledger is exact + `unknown`"),
    ("several plies in one line + repeated and older lines", "one diff + no phantom move + right clocks"),
    (
        "takebacks of one and two plies + offers + clocks up or down + berserk",
        "one diff + no phantom move + right clocks",
    ),
    (
        "move POST + 400 + 404 + 408 + 5xx + reset before and after + answer after 30 s",
        "never played twice + never stale",
    ),
    ("chat + abort + resign + draw + claim + every error + a silent 200", "untouched + truth is the stream"),
    ("50 gameStarts + 30 challenges with a slow API + 404 or 429", "started once + never leak + never exceed"),
    ("challenge of our own + declined + no answer", "the slot is free + lease"),
    ("accepted challenge + never starts", "the slot is free + lease"),
    (
        "engine + crash at any ply + hang + illegal or malformed + slow start + stderr flood",
        "2 s + deadline + fallback",
    ),
    ("engine + out of memory", "same game within 2 s"),
    ("engine + zombie", "no orphan process, ever"),
    ("opponent gone + returns + claimable", "claimed"),
    ("token revoked + account closed + DNS gone + IPv6 only", "one clear state + calm retries + healthz tells"),
    ("clock steps by an hour", "no flag"),
    ("an outage", "1, 2, 4 … 30 s + ten a second + owed moves and short clocks first"),
    ("full disk + journal locked", "play goes on"),
    ("webhook receiver dead for an hour", "play goes on + in order"),
)
"""Every fault that was asked for, and its bound, by the words of the table that matter."""
TEST_ID = re.compile(r"(?P<file>\w+/test_\w+\.py)::(?P<name>test_\w+)(\[(?P<vector>[\w-]+:[\w-]+)\])?")


@cache
def names_in(file: str) -> set[str]:
    path = TESTS / file
    return set(re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE) if path.is_file() else ())


@cache
def vectors() -> set[str]:
    files = (TESTS / "data" / "vectors").glob("*.jsonl")
    return {f"{path.stem}:{json.loads(line)['id']}" for path in files for line in path.read_text().splitlines()}


def exists(test_id: str) -> bool:
    found = TEST_ID.fullmatch(test_id)
    if found is None or found["name"] not in names_in(found["file"]):
        return False
    return found["vector"] is None or found["vector"] in vectors()


def test_every_report_is_there_and_no_other() -> None:
    assert {kind: tuple(sorted(map(int, numbers))) for kind, numbers in SCENARIOS.items()} == NUMBERS


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, number) for kind, numbers in NUMBERS.items() for number in numbers]
)
def test_a_report_has_tests_or_a_reason(kind: str, number: int) -> None:
    scenario = SCENARIOS[kind][str(number)]
    assert set(scenario) <= {"report", "tests", "why"}
    assert scenario["report"].strip()
    tests = scenario.get("tests", [])
    assert tests or scenario["why"].strip()
    assert scenario.get("why", "-").strip()
    assert [test_id for test_id in tests if not exists(test_id)] == []


@pytest.mark.parametrize(("fault", "bound"), ASKED, ids=[fault for fault, _ in ASKED])
def test_the_table_has_a_row_for_each_fault_with_its_bound(fault: str, bound: str) -> None:
    """Words are looked for, so that a row may say more, or stand for several faults."""
    columns = [row.split("|")[1:3] for row in ROWS]
    rows = [holds for named, holds in columns if all(word in named for word in fault.split(" + "))]
    assert rows, f"no row for {fault!r}"
    assert any(all(word in holds for word in bound.split(" + ")) for holds in rows), (fault, rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:40])
def test_a_fault_has_a_bound_and_tests(row: str) -> None:
    _, fault, holds, tests, _ = row.split("|")
    assert fault.strip() and holds.strip()
    ids = re.findall(r"`([^`]+)`", tests)
    assert ids
    assert [test_id for test_id in ids if not exists(test_id)] == []


@pytest.mark.parametrize("missing", ["faults/test_none.py::test_x", "faults/test_scenarios.py::test_none", "x"])
def test_a_test_that_is_not_there_is_found_out(missing: str) -> None:
    assert not exists(missing)
