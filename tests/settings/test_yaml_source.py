"""YAML that keeps its places, and does not fall into the traps of YAML 1.1."""

from itertools import pairwise

import pytest

from bridge.settings.yaml_source import read_yaml


def texts(source: str, **variables: str) -> list[str]:
    return [problem.text for problem in read_yaml(source, variables).problems]


def test_values_know_where_they_and_their_keys_are() -> None:
    document = read_yaml("a:\n  - {b: 1}\n  - c: two\n", {})
    assert document.value == {"a": [{"b": 1}, {"c": "two"}]}
    assert document.place(("a", 0, "b")) == (2, 9)
    assert document.key_place(("a", 0, "b")) == (2, 6)
    assert document.place(("a", 1, "c")) == (3, 8)


def test_a_missing_value_is_placed_at_what_is_around_it() -> None:
    assert read_yaml("a:\n  b: 1\n", {}).place(("a", "zz", 4)) == (2, 3)


def test_a_key_twice_is_told_at_the_second_and_the_first_is_kept() -> None:
    document = read_yaml("a: 1\nb: 2\na: 3\n", {})
    (problem,) = document.problems
    assert problem.place == (3, 1)
    assert "duplicate key 'a' (first on line 1)" in problem.text
    assert document.value == {"a": 1, "b": 2}


@pytest.mark.parametrize("written", ["6:00", "1:30", "010", "0x10", "1:30.5", "0b11"])
def test_numbers_that_only_yaml_reads_as_such_are_to_be_quoted(written: str) -> None:
    (text,) = texts(f"a: {written}")
    assert f'"{written}"' in text
    assert texts(f'a: "{written}"') == []


@pytest.mark.parametrize(
    ("written", "value"),
    [("12", 12), ("-3", -3), ("1_000", 1000), ("0", 0), ("0.5", 0.5), ("no", False), ("on", True), ("~", None)],
)
def test_plain_scalars(written: str, value: object) -> None:
    assert read_yaml(f"a: {written}", {}).value == {"a": value}


@pytest.mark.parametrize("written", ["6:00", "no", "12", "6+0", "null"])
def test_keys_are_text_as_written(written: str) -> None:
    assert read_yaml(f"{{{written}: 1}}", {}).value == {written: 1}


def test_variables_are_filled_in_anywhere_in_text_and_in_flow_tables() -> None:
    source = "a: x-${ONE}-${TWO}\nb: [{c: ${ONE}, d: 2}]\ne: '$${ONE}'\n"
    document = read_yaml(source, {"ONE": "1", "TWO": "${ONE}"})
    assert document.value == {"a": "x-1-${ONE}", "b": [{"c": "1", "d": 2}], "e": "${ONE}"}
    assert document.written[("b", 0, "c")] == "${ONE}"
    assert document.place(("b", 0, "d")) == (2, 20)
    assert not document.problems
    assert not document.unset


def test_an_unset_variable_is_noted_with_its_path() -> None:
    document = read_yaml("a: {b: ${NOPE}}", {})
    assert document.unset == {("a", "b"): "NOPE"}


@pytest.mark.parametrize("written", ["${}", "${A B}", "'${A'", "${A:-x}"])
def test_a_reference_that_is_none_is_told(written: str) -> None:
    (text,) = texts(f"a: {written}", A="1")
    assert "${NAME}" in text


@pytest.mark.parametrize(
    ("source", "place"),
    [("a: [1", (2, 1)), ("a:\n\t- 1\n", (2, 1)), ("a: *none\n", (1, 4)), ('a: "x\n', (2, 1)), ("a: \0", (1, 1))],
)
def test_what_is_not_yaml_is_one_line_with_a_place(source: str, place: tuple[int, int]) -> None:
    (problem,) = read_yaml(source, {}).problems
    assert problem.place == place
    assert "\n" not in problem.text


@pytest.mark.parametrize(
    "source",
    [
        "a: &a [*a]",
        "[" * 3000 + "]" * 3000,
        "a: &a [x,x]\n" + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghi")),
    ],
    ids=["holds itself", "deep", "grows"],
)
def test_a_file_that_would_never_end_is_told(source: str) -> None:
    assert len(texts(source)) == 1


def test_a_key_that_is_a_table_is_told() -> None:
    assert texts("{[1]: 2}") == ["a key must be one word"]
