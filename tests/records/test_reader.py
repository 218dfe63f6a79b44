"""Any file: what it is, its content says; nothing that can be in it is a traceback."""

import bz2
import gzip
import io
import json
import random
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.errors import RecordError
from bridge.records.game import Game
from bridge.records.reader import read_games
from bridge.rules.pools import named

PGN = b'[Event "A"]\n[White "Ann"]\n\n1. e4 e5 1-0\n\n[Event "B"]\n\n1. d4 *\n'
RECORD = {"id": "r", "moves": ["e2e4"], "think_ms": [5]}
EXPORT = {
    "id": "abcdefgh",
    "variant": "standard",
    "players": {},
    "moves": "e4 e5",
    "status": "resign",
    "winner": "white",
}


def read(data: bytes) -> list[Game | RecordError]:
    return list(read_games(io.BytesIO(data), "file"))


def games(data: bytes) -> list[list[str]]:
    found = read(data)
    assert all(isinstance(game, Game) for game in found), found
    return [list(game.snapshot.moves) for game in found if isinstance(game, Game)]


@pytest.mark.parametrize(
    "packed",
    [
        PGN,
        PGN.replace(b"\n", b"\r\n"),
        PGN.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + PGN,
        PGN.decode().encode("utf-16"),
        gzip.compress(PGN, mtime=0),
        bz2.compress(PGN),
        zstandard.compress(PGN),
        zstandard.compress(PGN[:40]) + zstandard.compress(PGN[40:]),
    ],
)
def test_line_ends_marks_and_compression_do_not_matter(packed: bytes) -> None:
    assert games(packed) == [["e2e4", "e7e5"], ["d2d4"]]


def test_latin_1_and_utf_8_in_one_file() -> None:
    both = '[White "Müller"]\n\n1. e4 *\n'.encode("latin-1") + '[White "Høeg"]\n\n1. e4 *\n'.encode()
    assert [game.white for game in read(both) if isinstance(game, Game)] == ["Müller", "Høeg"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstandard.compress])
def test_an_archive_that_is_cut_short_is_told(compress: object) -> None:
    assert callable(compress)
    noise = "".join(random.Random(1).choices("abcdefgh", k=3000))
    packed = compress(PGN + b"{" + noise.encode() + b"}")
    *_, last = read(packed[: len(packed) // 2])
    assert isinstance(last, RecordError)
    assert "cannot be decompressed" in last.message


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORD) + "\n" + json.dumps(EXPORT) + "\n",
        json.dumps(RECORD, indent=2) + "\n" + json.dumps(EXPORT, indent=2),
        json.dumps([RECORD, EXPORT]),
        json.dumps([RECORD, EXPORT], indent=2),
        "\n\n" + json.dumps(RECORD) + "\n\n" + json.dumps(EXPORT),
    ],
)
def test_json_in_one_line_each_in_a_list_or_pretty_printed(text: str) -> None:
    assert games(text.encode()) == [["e2e4"], ["e2e4", "e7e5"]]


def test_a_broken_object_among_good_ones_is_one_line_with_its_place() -> None:
    lines = [
        json.dumps(RECORD),
        '{"id": "x", "moves": [',
        json.dumps({**RECORD, "think_ms": [1, 2]}),
        json.dumps(EXPORT),
    ]
    first, broken, uneven, last = read("\n".join(lines).encode())
    assert isinstance(first, Game)
    assert isinstance(last, Game)
    assert str(broken).startswith("file: game 2, line 2: broken JSON")
    assert str(uneven) == "file: game 3, line 3: lengths disagree: 1 moves, 2 think_ms"


def test_a_first_line_that_is_cut_short_does_not_take_the_others_with_it() -> None:
    broken, good = read(b'{"id": "x",\n' + json.dumps(RECORD).encode())
    assert isinstance(broken, RecordError)
    assert isinstance(good, Game)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"\n \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"[]", "empty list"),
        (b"just a letter to a friend", "neither PGN"),
        (bytes(range(256)) * 8, "not a text file"),
        (b'{"type":"gameState","moves":"e2e4"}', "a Lichess game stream"),
        (b'{"type":"gameFull","id":"x","state":{}}', "a Lichess game stream"),
        (b'{"type":"challenge","challenge":{}}', "a Lichess event stream"),
        (b'{"t":"fen","d":{}}', "a Lichess TV stream"),
        (b'{"id":"x","players":{}}', "without its moves"),
        (b'{"schema":"kirichess.verdict/1","id":"x"}', "kirichess.verdict/1"),
        (b"{}", "no game"),
        (b'{"a":1}\n{"b":2}\n', "no game"),
        (b'Dear reader,\nthis is\n{"a": 1}\n', "broken JSON"),
    ],
)
def test_a_file_with_no_game_in_it_gets_one_line_that_says_so(data: bytes, says: str) -> None:
    (told,) = read(data)
    assert isinstance(told, RecordError)
    assert str(told).startswith("file: no game in it")
    assert says in told.message


BROKEN = {
    "[]": "no object: []",
    "42": "no object: 42",
    "null": "no object: None",
    '"moves"': "no object: 'moves'",
    "[1": "broken JSON",
    "nonsense": "broken JSON",
    "{}": "an object that is no game",
    '{"id":"x","moves":"e2e4"}': "moves must be an array of UCI strings, not 'e2e4'",
    '{"id":"x","moves":null}': "moves must be an array of UCI strings, not None",
    '{"schema":"kirichess.game/2","moves":["e2e4"]}': "schema 'kirichess.game/2', not kirichess.game/1",
    '{"schema":7,"moves":["e2e4"]}': "schema 7, not kirichess.game/1",
    '{"schema":"kirichess.verdict/1","id":"x"}': "schema 'kirichess.verdict/1'",
    '{"schema":"kirichess.game/1"}': "moves are missing",
    '{"id":"x","players":{}}': "a Lichess game without its moves",
}


@pytest.mark.parametrize("before", [[], ["{}"], ["nonsense", "42"], [json.dumps(RECORD)]])
def test_every_broken_line_is_told_with_its_own_number_and_line(before: list[str]) -> None:
    given = [*before, json.dumps(RECORD), *BROKEN, json.dumps({"moves": ["d2d4"]})]
    found = read("\n".join(given).encode())
    assert len(found) == len(given)
    for number, (text, game) in enumerate(zip(given, found, strict=True), 1):
        if isinstance(game, RecordError):
            assert str(game).startswith(f"file: game {number}, line {number}: {BROKEN[text]}")
    last = found[-1]
    assert isinstance(last, Game)
    assert (last.game_id, last.place) == (f"file#{len(given)}", f"file: game {len(given)}, line {len(given)}")


def test_records_that_are_all_broken_are_told_one_by_one() -> None:
    first, second = read(b'{"schema":"kirichess.game/2","moves":[]}\n{"id":"x","moves":"e2e4"}\n')
    assert str(first).startswith("file: game 1, line 1: schema")
    assert str(second).startswith("file: game 2, line 2: moves must be an array")


def test_objects_that_are_no_game_are_told_once_beside_the_games() -> None:
    game, told = read((json.dumps(RECORD) + '\n{"type":"chatLine"}\n{"type":"chatLine"}\n').encode())
    assert isinstance(game, Game)
    assert "2 of its objects (first: line 2: 'chatLine'" in str(told)


@pytest.mark.parametrize("data", [b"[" * 50_000, b'{"a":' * 50_000, b'{"moves":[],"think_ms":[' + b"9" * 5_000 + b"]}"])
def test_json_made_to_break_readers(data: bytes) -> None:
    (told,) = read(data)
    assert "broken JSON" in str(told)


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pgn", tmp_path):
        (told,) = read_games(path)
        assert isinstance(told, RecordError)
        assert str(told).startswith(f"{path}: cannot be read")


def test_progress_hears_of_every_byte(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_bytes(PGN)
    read_bytes: list[int] = []
    assert len(list(read_games(file, progress=read_bytes.append))) == 2
    assert sum(read_bytes) == len(PGN)


_PIECES = [
    b"{",
    b"}",
    b"(",
    b")",
    b"[",
    b"]",
    b'"',
    b"\n",
    b"\r",
    b"*",
    b"1-0",
    b";",
    b"%",
    b"\0",
    b"\xff",
    b"Z0",
    b"null",
]
_SEEDS = [
    PGN,
    json.dumps(RECORD).encode(),
    json.dumps(EXPORT).encode(),
    b'[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n1. O-O *',
]


@given(st.sampled_from(_SEEDS), st.lists(st.tuples(st.integers(0, 200), st.sampled_from(_PIECES)), max_size=8))
@settings(max_examples=200, deadline=None)
def test_no_spoiled_file_raises(seed: bytes, spoils: list[tuple[int, bytes]]) -> None:
    data = bytearray(seed)
    for at, piece in spoils:
        data[at % (len(data) + 1) : at % (len(data) + 1)] = piece
    for game in read(bytes(data)):
        if isinstance(game, Game):
            try:
                game.judge(named("anchor"))
            except RecordError as error:
                assert str(error).startswith("file: ")
        else:
            assert str(game).startswith("file")
