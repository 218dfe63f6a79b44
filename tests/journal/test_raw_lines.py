"""The platform's lines in memory, while the journal cannot be written."""

import pytest

from bridge.journal.raw import Gathered, Line


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
