"""Lines out of bytes, wherever they are cut."""

from hypothesis import given
from hypothesis import strategies as st

from bridge.platforms.lichess.lines import LineSplitter


def test_lines_end_with_lf_or_crlf_and_keep_alives_are_empty_lines() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"one\r\ntwo\n\n\r\nthr") == [b"one", b"two", b"", b""]
    assert splitter.feed(b"ee\n") == [b"three"]


def test_a_character_cut_in_two_is_whole_again() -> None:
    line = '{"text":"é…♞"}'.encode()
    splitter = LineSplitter()
    found = [got for i in range(len(line)) for got in splitter.feed(line[i : i + 1])]
    assert found == []
    assert splitter.feed(b"\n") == [line]


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line and not line.endswith(b"\r"))), st.data())
def test_chunk_borders_do_not_matter(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    splitter, found = LineSplitter(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += splitter.feed(stream[:size])
        stream = stream[size:]
    assert found == lines


def test_a_line_above_the_limit_is_dropped_to_its_end_without_being_kept() -> None:
    splitter = LineSplitter(limit=10)
    assert splitter.feed(b"0123456789\n") == [b"0123456789"]
    for _ in range(1000):
        assert splitter.feed(b"xxxxxxxx") == []
    assert len(splitter._begun) <= 10
    assert splitter.feed(b"\nnext\n") == [b"next"]
    assert splitter.take_dropped() == 1
    assert splitter.take_dropped() == 0
