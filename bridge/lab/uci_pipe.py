"""A UCI program on two pipes, without an event loop: what thousands of short searches need.

The daemon speaks to engines through `chess.engine`, which forgives more and costs several times as much a search.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from bridge.engines.locate import find_program
from bridge.engines.spec import Option
from bridge.engines.uci_info import Heads, figure
from bridge.engines.view import Found
from bridge.errors import EngineError

START_S = 10.0
SILENCE_S = 20.0
"""A search that says nothing for so long has hung: the program is killed …"""
LONGEST_S = 600.0
"""… and so has one that goes on for so long, whatever it says."""
_CHUNK = 65_536


class UciPipe:
    """One program. Every error ends it; `start` gives a fresh one."""

    def __init__(
        self,
        path: str,
        options: Mapping[str, Option] | None = None,
        args: Sequence[str] = (),
        *,
        silence_s: float = SILENCE_S,
        longest_s: float = LONGEST_S,
    ) -> None:
        self.path = path
        self._silence_s, self._longest_s = silence_s, longest_s
        self._options = dict(options or {})
        self._args = tuple(args)
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self.name = path
        self.offered: dict[str, str] = {}
        """Option name → its declaration."""

    def __enter__(self) -> "UciPipe":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def start(self) -> None:
        """Run the program and set its options; nothing while it runs. Raises EngineError."""
        if self._process is not None:
            return
        program = find_program(self.path)
        try:
            self._process = subprocess.Popen(
                [program, *self._args],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        except OSError as error:
            raise EngineError(f"engine {program} cannot be executed: {error.strerror}") from error
        self._buffer = b""
        self._greet()
        for name, value in self._options.items():
            shown = str(value).lower() if isinstance(value, bool) else value
            self.send(f"setoption name {name} value {shown}")
        self.ready()

    def _greet(self) -> None:
        self.send("uci")
        try:
            told = list(self.lines_until("uciok", min(START_S, self._silence_s)))
        except EngineError as error:
            raise EngineError(f"{error}: is it a UCI engine?") from error
        for line in told:
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ")
            elif line.startswith("option name "):
                self.offered[line.removeprefix("option name ").partition(" type ")[0]] = line

    def ready(self) -> None:
        """Wait until it has done what it was told."""
        self.send("isready")
        for _ in self.lines_until("readyok", START_S):
            pass

    def new_game(self) -> None:
        """Forget what was learnt from other games."""
        self.send("ucinewgame")
        self.ready()

    def search(self, position: str, go: str) -> tuple[Found, int]:
        """What it found, and the nodes it owns up to. Raises EngineError.

        `position` and `go` as UCI has them, without their first word.
        """
        self.send(f"position {position}\ngo {go}")
        heads, nodes, words = Heads(), 0, [""]
        for line in self.lines_until("bestmove", self._silence_s):
            heads.take(line)
            words = line.split() or [""]
            if words[0] == "info":
                nodes = figure(words, "nodes") or nodes
        return heads.found(words[1] if len(words) > 1 else ""), nodes

    def send(self, text: str) -> None:
        """Write lines to the program."""
        process = self._running()
        assert process.stdin is not None, "opened with pipes"
        try:
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
        except OSError as error:
            self.close()
            raise EngineError(f"engine {self.path} died") from error

    def lines_until(self, last: str, patience_s: float) -> Iterator[str]:
        """Lines up to one that begins with `last`. Raises EngineError: as `line`, or it never comes to that."""
        until = time.monotonic() + self._longest_s
        while True:
            yield (line := self.line(min(patience_s, self._longest_s)))
            if line.startswith(last):
                return
            if time.monotonic() > until:
                self.close()
                raise EngineError(f"engine {self.path} did not come to an end in {self._longest_s:g} s and was killed")

    def line(self, patience_s: float) -> str:
        """The next line, without its end. Raises EngineError: it died, or said nothing for `patience_s`."""
        while (end := self._buffer.find(b"\n")) < 0:
            self._buffer += self._read(patience_s)
        line, self._buffer = self._buffer[:end], self._buffer[end + 1 :]
        return line.decode("utf-8", "replace").strip()

    def _read(self, patience_s: float) -> bytes:
        process = self._running()
        assert process.stdout is not None, "opened with pipes"
        descriptor = process.stdout.fileno()
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            if not selector.select(patience_s):
                self.close()
                raise EngineError(f"engine {self.path} was silent for {patience_s:g} s and was killed")
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            self.close()
            raise EngineError(f"engine {self.path} died")
        return chunk

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EngineError(f"engine {self.path} is not running: start it first")
        return self._process

    def close(self) -> None:
        """Ask it to quit, then kill it with all it started. Never raises."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None and process.stdout is not None, "opened with pipes"
        with suppress(OSError):  # it is gone already: nothing is left to ask
            process.stdin.write(b"quit\n")
            process.stdin.close()
        until = time.monotonic() + 0.5
        while process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        with suppress(OSError):  # the group ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()
