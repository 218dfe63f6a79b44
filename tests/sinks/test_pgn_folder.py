"""Every judged game in a file of its own."""

import io
from pathlib import Path

import chess.pgn
import pytest

from bridge.errors import SinkError
from bridge.interfaces import Entry
from bridge.sinks.pgn import Group, PgnFolder

PGN = '[KiriPool "anchor"]\n\n1. e4 { [%clk 0:06:00] [%kclk 359000] } *\n\n'


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


def game(number: str, white: str = "anna", black: str = "Bob", pool: str = "anchor", result: str = "*") -> str:
    tags = f'[Event "KiriChess game"]\n[White "{white}"]\n[Black "{black}"]\n[GameId "{number}"]\n[KiriPool "{pool}"]\n'
    return f"{tags}\n1. e4 {{ [%kclk 359000] }} {result}\n"


@pytest.mark.parametrize(
    ("group", "names"),
    [
        ("opponent", ["Bob.pgn", "Eve.pgn"]),
        ("pool", ["anchor.pgn", "winder.pgn"]),
        ("all", ["games.pgn"]),
    ],
)
async def test_games_share_a_file_and_none_is_lost(tmp_path: Path, group: Group, names: list[str]) -> None:
    games = [game("g1"), game("g2", "Eve", "anna", "winder"), game("g3")]
    for text, number in zip(games, ("g1", "g2", "g3"), strict=True):
        # A sink of its own each time: what the file holds counts, not what one remembers.
        await PgnFolder(tmp_path, group).write(verdict(number, text))
    await PgnFolder(tmp_path, group).write(verdict("g1", game("g1", result="0-1"), "kirichess.verdict.changed"))
    assert sorted(path.name for path in files_under(tmp_path)) == names
    read: list[str] = []
    for name in names:
        with (tmp_path / name).open() as file:
            while found := chess.pgn.read_game(file):
                assert not found.errors
                read.append(found.headers["GameId"])
    assert sorted(read) == ["g1", "g2", "g3"]
    assert all((tmp_path / name).read_text().endswith("\n\n") for name in names)
    (first,) = [text for path in files_under(tmp_path) if 'GameId "g1"' in (text := path.read_text())]
    assert first.index("0-1") < (first.index('"g3"') if '"g3"' in first else len(first)), "it keeps its place"


async def test_a_watched_game_is_filed_under_both_names(tmp_path: Path) -> None:
    await PgnFolder(tmp_path, "opponent").write(verdict("g1", game("g1", "Carl", "../Dora")))
    assert [path.name for path in files_under(tmp_path)] == ["Carl - ..%2FDora.pgn"]


async def test_files_that_are_joined_are_games_that_python_chess_tells_apart(tmp_path: Path) -> None:
    for number in ("g1", "g2"):
        await PgnFolder(tmp_path).write(verdict(number, game(number)))
    joined = io.StringIO("".join(path.read_text() for path in sorted(files_under(tmp_path))))
    found = [chess.pgn.read_game(joined), chess.pgn.read_game(joined)]
    assert [each.headers["GameId"] for each in found if each is not None and not each.errors] == ["g1", "g2"]
