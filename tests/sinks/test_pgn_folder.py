"""Every judged game in a file of its own."""

from pathlib import Path

import pytest

from bridge.errors import SinkError
from bridge.interfaces import Entry
from bridge.sinks.pgn import PgnFolder

PGN = '[KiriPool "anchor"]\n\n1. e4 { [%clk 0:06:00] [%kclk 359000] } *\n'


def verdict(subject: str, pgn: object, kind: str = "kirichess.verdict.final") -> Entry:
    return Entry(1, "abc-1", 0, kind, subject, "anna", {"pgn": pgn})


def files_under(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_a_final_verdict_writes_the_game_and_a_changed_one_replaces_it(tmp_path: Path) -> None:
    sink = PgnFolder(tmp_path / "games" / "deep")
    await sink.write(verdict("Qy5iNRCi", PGN))
    file = tmp_path / "games" / "deep" / "Qy5iNRCi.pgn"
    assert file.read_text() == PGN
    await sink.write(verdict("Qy5iNRCi", PGN.replace("*", "0-1"), "kirichess.verdict.changed"))
    assert file.read_text() == PGN.replace("*", "0-1")
    assert [path.name for path in file.parent.iterdir()] == ["Qy5iNRCi.pgn"], "no draft is left"


async def test_other_entries_write_nothing(tmp_path: Path) -> None:
    sink = PgnFolder(tmp_path / "games")
    await sink.write(verdict("a", PGN, "kirichess.verdict.provisional"))
    await sink.write(verdict("a", PGN, "kirichess.game.finished"))
    await sink.write(verdict("a", None))
    assert not (tmp_path / "games").exists()


@pytest.mark.parametrize("subject", ["../../evil", "/etc/evil", "..", "a\\b", "nul\0"])
async def test_no_game_id_leads_out_of_the_folder(tmp_path: Path, subject: str) -> None:
    folder = tmp_path / "games"
    await PgnFolder(folder).write(verdict(subject, PGN))
    assert {path.parent for path in files_under(tmp_path)} == {folder}


async def test_a_folder_that_cannot_be_is_told_with_its_cure(tmp_path: Path) -> None:
    (tmp_path / "games").write_text("a file in the way")
    with pytest.raises(SinkError, match=r"games/a\.pgn cannot be written: .*mend pgn\.folder"):
        await PgnFolder(tmp_path / "games").write(verdict("a", PGN))
