"""What an engine program is told and says in one game, in a file of that game's own.

One thread writes, beside the event loop: a disk that is full, slow or gone costs lines of a file, never a move. What
is put is bounded before anything is written, so an engine that floods costs no more than one that does not.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import structlog

log = structlog.get_logger("kirichess_engine")

TO, FROM, STDERR, NOTE = ">", "<", "!", "#"
"""What a line of the file begins with, after its time."""

_LONGEST = 2_000
"""Characters kept of a line."""
_STDERR_SHARE = 4
"""A quarter of the file may be stderr: a flood there does not drown the rest."""
_WAITING = 10_000
"""Lines that may wait for the disk, of all games; more are dropped."""
_GOODBYE_S = 2.0


class Transcript:
    """One game's file, at most `most_bytes` long; `stderr` False: without what comes there."""

    def __init__(
        self, put: Callable[[str], None], wall_ms: Callable[[], int], most_bytes: int, *, stderr: bool
    ) -> None:
        self._put = put
        self._wall_ms = wall_ms
        self._stderr_left = most_bytes // _STDERR_SHARE if stderr else 0
        self._left = most_bytes - self._stderr_left

    def add(self, mark: str, text: str) -> None:
        """One line. Must not wait."""
        if self._left > 0:
            self._left = self._written(mark, text, self._left)

    def add_stderr(self, data: bytes) -> None:
        """What came on stderr; nothing is looked at beyond what there is room for."""
        if self._stderr_left > 0:
            for line in data[: self._stderr_left].decode("utf-8", "replace").splitlines():
                self._stderr_left = self._written(STDERR, line, self._stderr_left)

    def _written(self, mark: str, text: str, left: int) -> int:
        """Gives the room that is left then."""
        if left <= 0:
            return 0
        line = f"{_stamp(self._wall_ms())} {mark} {text[:_LONGEST]}"
        left -= len(line.encode("utf-8", "replace")) + 1
        self._put(line if left > 0 else f"{_stamp(self._wall_ms())} {NOTE} no room for more of {mark}")
        return left


class Transcripts:
    """The files of all games in one folder, each at most `most_bytes` long; `wall_ms`: the date."""

    def __init__(self, folder: Path, most_bytes: int, wall_ms: Callable[[], int]) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._wall_ms = wall_ms
        self._waiting: queue.Queue[tuple[Path, str] | None] = queue.Queue(_WAITING)
        self._broken: set[Path] = set()
        self._behind = False
        # A daemon thread: the interpreter does not wait for a disk that hangs.
        self._thread = threading.Thread(target=self._work, name="engine-logs", daemon=True)
        self._started = False

    def of(self, game_id: str, account: str, *, stderr: bool = True) -> Transcript:
        """The file `GAME-ACCOUNT.log`; one that is there is gone on with: a game can outlast this program."""
        if not self._started:
            self._started = True
            self._thread.start()
        # A game's id comes from a server: quoted, it can name no other folder.
        file = self._folder / f"{quote(game_id, safe='')}-{quote(account, safe='')}.log"

        def put(line: str) -> None:
            try:
                self._waiting.put_nowait((file, line))
            except queue.Full:
                if not self._behind:
                    self._behind = True
                    log.warning("engine_log_behind", folder=str(self._folder), cause="the disk is too slow")

        return Transcript(put, self._wall_ms, self._most_bytes, stderr=stderr)

    async def close(self) -> None:
        """Write what waits, for a little while."""
        if not self._started:
            return
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        await asyncio.to_thread(self._thread.join, _GOODBYE_S)

    # -- in the thread -------------------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            lines: dict[Path, list[str]] = {}
            entry = self._waiting.get()
            while entry is not None:
                lines.setdefault(entry[0], []).append(entry[1])
                if self._waiting.empty():
                    break
                entry = self._waiting.get()
            for file, added in lines.items():
                self._write(file, added)
            self._behind = False
            if entry is None:
                return

    def _write(self, file: Path, lines: list[str]) -> None:
        """A file that cannot be written is told once; the next game has another."""
        if file in self._broken:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("ab") as stream:
                text = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
                stream.write(text[: max(0, self._most_bytes - stream.tell())])
        except OSError as error:
            self._broken.add(file)
            cause = f"{error.strerror}; make room, let this user write there, or mend engine_logs.folder"
            log.warning("engine_log_failed", file=str(file), cause=cause)


def _stamp(wall_ms: int) -> str:
    return datetime.fromtimestamp(wall_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
