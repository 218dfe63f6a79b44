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


def test_the_table_has_its_rows() -> None:
    assert len(ROWS) >= 12


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
