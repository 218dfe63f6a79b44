"""Log lines are found by their event: one word in lower case, the facts beside it."""

import ast
import re
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[1] / "bridge").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_events_are_written_alike(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute | ast.Name):
            continue
        of_a_log = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "log"
        if of_a_log or ast.unparse(node.func) == "tell":
            event = node.args[0]
            if isinstance(event, ast.Constant):
                assert re.fullmatch(r"[a-z]+(_[a-z]+)*", str(event.value)), (
                    f"{file.name}:{node.lineno}: {event.value!r}"
                )
