"""Bytes → numbered lines: compression and encoding by content, never by name."""

import bz2
import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

import zstandard

from bridge.errors import RecordError
from bridge.records.pgn_text import Line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAX_LINE_CHARS = 16 * 1024 * 1024
_CHUNK_BYTES = 1 << 17
_BROKEN = (OSError, EOFError, zlib.error, zstandard.ZstdError)
"""What the decompressors raise on data that is cut short or no archive at all."""


def _as_latin1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "only used for reading"
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("kirichess-latin1", _as_latin1)


def open_lines(target: Path | BinaryIO, name: str, progress: Callable[[int], object] | None = None) -> Iterator[Line]:
    """The lines of a file or an open binary stream, without their ends; CR, LF and CRLF all end a line.

    UTF-8 (or UTF-16 by its mark); what is neither is read as Latin-1. `progress` hears of the raw bytes.

    Raises:
        RecordError: the file cannot be opened, read or decompressed, is not text, or a line is too long.
    """
    number = 0
    try:
        with _opened(target) as raw:
            text = _decode(_decompress(_Counted(raw, progress)), name)
            while line := text.readline(MAX_LINE_CHARS):
                number += 1
                if len(line) >= MAX_LINE_CHARS:
                    cause = f"a line longer than {MAX_LINE_CHARS >> 20} MiB: the rest of the file is not read"
                    raise RecordError(cause, place=f"{name}: line {number}")
                yield number, line.lstrip("\ufeff").rstrip("\n")
    except _BROKEN as error:
        place = f"{name}: after line {number}" if number else name
        raise RecordError(_cause(error), place=place) from error


def _opened(target: Path | BinaryIO) -> BinaryIO:
    return target.open("rb") if isinstance(target, Path) else target


def _cause(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror.lower()}"
    return f"cannot be decompressed: {error}"


class _Counted(io.RawIOBase):
    def __init__(self, raw: BinaryIO, progress: Callable[[int], object] | None) -> None:
        self._raw = raw
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        data = self._raw.read(len(view))
        view[: len(data)] = data
        if self._progress is not None:
            self._progress(len(data))
        return len(data)


class _Zstd(io.RawIOBase):
    """Frames one after another, like `zstandard.stream_reader`, but a frame that is cut short is an error."""

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._fed = False
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer)
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else self._raw.read(_CHUNK_BYTES)
            if self._frame.eof:
                data = data or self._raw.read(_CHUNK_BYTES)
                self._frame, self._fed = zstandard.ZstdDecompressor().decompressobj(), False
            if not data:
                if self._fed:
                    raise EOFError("the file ends within a compressed frame")
                return 0
            self._fed = True
            self._ready = self._frame.decompress(data)
        taken = self._ready[: len(view)]
        self._ready = self._ready[len(taken) :]
        view[: len(taken)] = taken
        return len(taken)


_Plain: TypeAlias = io.BufferedReader | gzip.GzipFile | bz2.BZ2File


def _decompress(raw: io.RawIOBase) -> _Plain:
    stream: io.BufferedReader = io.BufferedReader(raw, _CHUNK_BYTES)
    magic = stream.peek(4)[:4]
    if magic[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=stream, mode="rb")
    if magic[:3] == b"BZh":
        return bz2.BZ2File(stream)
    if magic == zstandard.FRAME_HEADER:
        return io.BufferedReader(_Zstd(stream), _CHUNK_BYTES)
    return stream


def _decode(stream: _Plain, name: str) -> io.TextIOWrapper:
    head = stream.peek(1024)[:1024]
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return io.TextIOWrapper(stream, encoding="utf-16", errors="replace")
    if b"\0" in head:
        raise RecordError("no game in it: not a text file", place=name)
    return io.TextIOWrapper(stream, encoding="utf-8", errors="kirichess-latin1")
