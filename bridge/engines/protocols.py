"""The two languages engines speak, on top of `chess.engine`: stopping, draining stderr, and killing the whole group."""

import asyncio
import contextlib
import logging
import re

import chess.engine

from bridge.engines.guard import Guard
from bridge.engines.transcript import FROM, NOTE, TO, Transcript
from bridge.engines.uci_info import Heads

# What an engine says beside its protocol is no warning of ours; whatever stops a search is raised.
logging.getLogger("chess.engine").setLevel(logging.CRITICAL)

_TAIL_BYTES = 2000
_LONGEST_LINE_BYTES = 1_000_000
_NUDGE_S = 0.02
_LET_PASS = re.compile(r"^\s*Error \(unk\w+ command\)", re.IGNORECASE)
_OLD_MOVE = re.compile(r"^My move is ?: ")


class EngineProtocol(chess.engine.Protocol):
    """What `ProcessEngine` needs beyond `chess.engine.Protocol`."""

    spoken = ""
    takes_nodes = False
    takes_moves = False
    stop_word = ""
    _stderr = b""
    _guard: Guard | None = None
    transcript: Transcript | None = None
    """Where everything that passes is written too."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The program runs: from here on it ends with us."""
        super().connection_made(transport)
        assert self.transport is not None, "a spawned program has a transport"
        self._guard = Guard(self.transport.get_pid())

    def kill(self) -> None:
        """Kill the program and all it started."""
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.kill()

    @property
    def last_words(self) -> str:
        """The last line on stderr."""
        lines = self._stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:200] if lines else ""

    def write_to(self, transcript: Transcript | None) -> None:
        """What passes from here on, and what the program has written on stderr already."""
        self.transcript = transcript
        if transcript is not None and self._stderr:
            transcript.add_stderr(self._stderr)

    def send_line(self, line: str) -> None:
        """Tell the program."""
        if self.transcript is not None:
            self.transcript.add(TO, line)
        super().send_line(line)

    def stop(self) -> None:
        """Ask for the move now."""
        self.send_line(self.stop_word)

    def forget_board(self) -> None:
        """An unwanted search has ended: whatever the engine did to its board by it does not count."""

    def hang_up(self) -> None:
        """Close the pipes."""
        assert self.transport is not None, "a spawned program has a transport"
        self.transport.close()

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        """Read stdout line by line; of stderr only the end is kept, whatever comes."""
        if fd == 2:
            assert isinstance(data, bytes), "pipes carry bytes"
            if self.transcript is not None:
                self.transcript.add_stderr(data)
            self._stderr = (self._stderr + data)[-_TAIL_BYTES:]
            return
        super().pipe_data_received(fd, data)
        if len(self.buffer[fd]) > _LONGEST_LINE_BYTES:
            self.buffer[fd].clear()

    def _line_received(self, line: str) -> None:
        if self.transcript is not None:
            self.transcript.add(FROM, line)
        # Who waited for this answer may have given up just now: then nobody needs it.
        with contextlib.suppress(asyncio.InvalidStateError):
            super()._line_received(line)

    def process_exited(self) -> None:
        """A child it left behind would hold the pipes open, and the end would go unnoticed."""
        if self.transcript is not None and self.transport is not None:
            self.transcript.add(NOTE, f"exited with {self.transport.get_returncode()}")
        super().process_exited()
        self.kill()


class Uci(EngineProtocol, chess.engine.UciProtocol):
    """Universal Chess Interface."""

    spoken = "UCI"
    takes_nodes = True
    takes_moves = True
    stop_word = "stop"

    def __init__(self) -> None:
        super().__init__()
        self.heads = Heads()
        """What the running search has preferred so far; whoever starts a search makes it new."""

    def _line_received(self, line: str) -> None:
        self.heads.take(line)
        super()._line_received(line)


class XBoard(EngineProtocol, chess.engine.XBoardProtocol):
    """Chess Engine Communication Protocol."""

    spoken = "XBoard"
    stop_word = "?"

    async def initialize(self) -> None:
        """Ask until the features are told: GNU Chess looks for what it has to say only when it is spoken to."""
        nudge = asyncio.ensure_future(self._nudge())
        try:
            while not self.initialized:
                await self._ask_features()
        finally:
            nudge.cancel()

    async def _ask_features(self) -> None:
        try:
            await super().initialize()
        except chess.engine.EngineTerminatedError:
            raise
        except chess.engine.EngineError:
            # Given up after two seconds of silence: the caller's timeout decides, so ask again.
            if "done" in self.features:
                raise

    async def _nudge(self) -> None:
        while not self.returncode.done():
            await asyncio.sleep(_NUDGE_S)
            self.send_line("nopost")

    def forget_board(self) -> None:
        """It has made a move that was never played, and not every engine takes that back rightly."""
        self.first_game = True

    def send_line(self, line: str) -> None:
        """`level` counts in whole seconds: below one it would say that there is no time at all."""
        super().send_line(line.replace(" 0:00 ", " 0:01 ") if line.startswith("level ") else line)

    def _line_received(self, line: str) -> None:
        # GNU Chess answers as in version 1 of the protocol; a command that an engine lets pass is no failure.
        if not _LET_PASS.match(line):
            super()._line_received(_OLD_MOVE.sub("move ", line))
        elif self.transcript is not None:
            self.transcript.add(FROM, line)


PROTOCOLS: dict[str, type[EngineProtocol]] = {"uci": Uci, "xboard": XBoard}
