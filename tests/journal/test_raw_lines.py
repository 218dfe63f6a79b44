"""The platform's lines: in memory, while the journal cannot be written, and in the file until they are too old."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bridge.journal.raw import Block, Gathered, Line
from bridge.journal.store import Store


def test_what_finds_no_room_leaves_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.journal.raw.MOST_BYTES", 10)
    gathered = Gathered()
    for text in (b"four", b"four", b"four", b"", b"ab"):
        gathered.add("game", "bot:Kiri", Line(0, 0, text))
    (kept,) = gathered.blocks()
    assert (kept.first, [line.text for line in kept.lines]) == (0, [b"four", b"four"])
    gathered.stored([kept])
    assert not gathered
    gathered.add("game", "bot:Kiri", Line(0, 0, b"there is"))
    (later,) = gathered.blocks()
    assert (later.first, [line.text for line in later.lines]) == (5, [b"there is"])


def test_other_games_find_no_room_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.journal.raw.MOST_BYTES", 10)
    gathered = Gathered()
    gathered.add("one", "board", Line(0, 0, b"12345678"))
    gathered.add("two", "board", Line(0, 0, b"1234"))
    assert [block.subject for block in gathered.blocks()] == ["one"]


def test_what_came_while_others_were_stored_keeps_its_place() -> None:
    gathered = Gathered()
    gathered.add("g", "bot:me", Line(0, 0, b"one"))
    under_way = gathered.blocks()
    gathered.add("g", "bot:me", Line(1, 1, b"two"))
    gathered.add("g", "export", Line(2, 2, b"the whole game"))
    gathered.stored(under_way)
    assert [(block.source, block.first) for block in gathered.blocks()] == [("bot:me", 1), ("export", 0)]
    gathered.stored(gathered.blocks())
    assert not gathered


def test_a_game_that_goes_on_for_longer_keeps_no_other_ones_lines(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/journal.db", raw_since_ms=0)
    blocks = [Block(f"g{n}", "bot:Kiri", 0, (Line(1000 if n else 9000, 0, b"{}"),)) for n in range(1000)]
    store.write([], {}, blocks, 0)
    while store.sweep(before_ms=5000, quiet_ms=0):
        pass
    store.close()
    with closing(sqlite3.connect(tmp_path / "journal.db")) as base:
        assert base.execute("SELECT subject FROM raw").fetchall() == [("g0",)]
