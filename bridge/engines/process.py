"""UCI and XBoard engines: a program of its own, spoken to through `chess.engine`, never waited for past a deadline.

One program serves one game at a time, in a process group of its own that is killed as a whole. After any EngineError
the program is gone and `start` gives a fresh one.
"""

import asyncio
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import chess
import chess.engine

from bridge.engines.answer import accept, engine_board, require_move, within
from bridge.engines.locate import find_folder, find_program
from bridge.engines.option_values import option_values, suggested_values
from bridge.engines.protocols import PROTOCOLS, EngineProtocol, Uci
from bridge.engines.spec import Option
from bridge.engines.transcript import Transcript
from bridge.engines.uci_info import MATE_CP, Heads
from bridge.engines.view import Found, allowed
from bridge.errors import EngineError
from bridge.interfaces import Choice, EngineName, Limit
from bridge.rules.ledger import Ledger
from bridge.rules.position import read_move

START_TIMEOUT_MS = 10_000
_GOODBYE_MS = 500
"""How long a program may take to stop a cancelled search, or to quit, before it is killed."""
_NUDGE_MS = 20
_INFO = chess.engine.INFO_BASIC | chess.engine.INFO_SCORE


class ProcessEngine:
    """An engine program. `protocol` is uci or xboard; `nodes` limits every search (uci only)."""

    def __init__(
        self,
        path: str,
        *,
        protocol: str = "uci",
        args: Sequence[str] = (),
        options: Mapping[str, Option] | None = None,
        nodes: int | None = None,
        go_commands: Mapping[str, int | None] | None = None,
        ponder: bool = False,
        working_dir: str = "",
        suggested: Mapping[str, Option] | None = None,
        start_timeout_ms: int = START_TIMEOUT_MS,
    ) -> None:
        self._path = path
        self._kind = protocol
        self._name = ""
        self._door = PROTOCOLS[protocol]
        self._args = tuple(args)
        self._options = dict(options or {})
        self._go = dict(go_commands or {})
        self._nodes = nodes if nodes is not None else self._go.get("nodes")
        self._ponder = ponder
        self._working_dir = working_dir
        self._suggested = dict(suggested or {})
        self._start_timeout_ms = start_timeout_ms
        self._protocol: EngineProtocol | None = None
        self._transcript: Transcript | None = None
        self._told: EngineProtocol | None = None
        """Who knows of the opponent."""
        self._opponent: chess.engine.Opponent | None = None
        self._musing: asyncio.Future[None] | None = None
        self._thinking = asyncio.Lock()
        self._guard: weakref.finalize[[], ProcessEngine] | None = None

    # -- start and close -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Run the program and set its options; does nothing while it runs.

        Raises:
            EngineError: no such program, it exits or says nothing in time, or refuses an option.
        """
        if self._protocol is not None and not self._protocol.returncode.done():
            return
        await self.close()
        program = find_program(self._path)
        try:
            async with asyncio.timeout(self._start_timeout_ms / 1000):
                protocol = await self._spawn(program)
                await protocol.initialize()
                wanted = suggested_values(protocol.options, self._options, self._suggested)
                await protocol.configure(option_values(self._path, protocol.options, wanted))
                await protocol.ping()
                self._name = protocol.id.get("name", "")
        except TimeoutError as error:
            tail = self._last_words()
            await self._kill()
            raise EngineError(
                f"engine {program} did not get ready within {self._start_timeout_ms} ms: is it a "
                f"{self._door.spoken} engine?{tail}"
            ) from error
        except chess.engine.EngineError as error:
            tail = self._last_words()
            await self._kill()
            raise EngineError(f"engine {program} cannot be started: {error}{tail}") from error
        except BaseException:
            await self._kill()
            raise

    async def _spawn(self, program: str) -> EngineProtocol:
        folder = find_folder(self._working_dir) if self._working_dir else None
        try:
            _, protocol = await self._door.popen([program, *self._args], setpgrp=True, cwd=folder)
        except OSError as error:
            raise EngineError(
                f"engine {program} cannot be executed: {error.strerror}; is it built for this machine?"
            ) from error
        self._protocol = protocol
        protocol.write_to(self._transcript)
        # Runs when this object or the interpreter goes away without close(), whatever became of the event loop.
        self._guard = weakref.finalize(self, protocol.kill)
        return protocol

    def write_to(self, transcript: Transcript | None) -> None:
        """Where to write what the program is told and says; None: nowhere."""
        self._transcript = transcript
        if self._protocol is not None:
            self._protocol.transcript = transcript

    def meet(self, opponent: chess.engine.Opponent) -> None:
        """Whom the program plays from now on; it is told before the next move, if it wants to know."""
        self._opponent, self._told = opponent, None

    async def _introduce(self, protocol: EngineProtocol) -> None:
        if self._opponent is None or self._told is protocol:
            return
        self._told = protocol
        try:
            await protocol.send_opponent_information(opponent=self._opponent)
        except chess.engine.EngineError as error:
            await self._kill()
            raise EngineError(f"engine {self._path} failed: {error}") from error

    @property
    def called(self) -> EngineName:
        """By the program's own words, once it has been started."""
        return EngineName(self._kind, self._name or Path(self._path).name)

    @property
    def is_running(self) -> bool:
        """Whether the program is there."""
        return self._protocol is not None and not self._protocol.returncode.done()

    async def rest(self) -> bool:
        """Nothing is searched any more; False: the program is not fit for another game."""
        protocol = self._protocol
        if protocol is None or not self.is_running or self._thinking.locked():
            return False
        try:
            async with asyncio.timeout(_GOODBYE_MS / 1000):
                await protocol.ping()
        except (TimeoutError, chess.engine.EngineError):
            return False
        return True

    async def close(self) -> None:
        """Ask the program to quit, then kill what is left of its process group. Never raises."""
        protocol = self._protocol
        if protocol is None:
            return
        try:
            if not protocol.returncode.done():
                protocol.send_line("quit")
                await asyncio.wait({protocol.returncode}, timeout=_GOODBYE_MS / 1000)
        finally:
            await self._kill()

    async def _kill(self) -> None:
        protocol, self._protocol = self._protocol, None
        if self._guard is not None:
            self._guard()
            self._guard = None
        if protocol is not None:
            try:
                await asyncio.wait({protocol.returncode}, timeout=_GOODBYE_MS / 1000)
            finally:
                protocol.hang_up()

    def _last_words(self) -> str:
        words = self._protocol.last_words if self._protocol is not None else ""
        return f"; it said: {words}" if words else ""

    # -- thinking ------------------------------------------------------------------------------------------------

    async def think(self, ledger: Ledger, limit: Limit) -> Choice:
        """The program's move; it is told to stop a little before `limit.deadline_ms`, and killed at it.

        Raises:
            EngineError: not started, died, silent past the deadline, resigned, or an illegal move.
        """
        require_move(ledger)
        # A search that was cancelled a moment ago may still be stopping.
        async with self._thinking:
            protocol = self._protocol
            if protocol is None:
                raise EngineError(f"engine {self._path} is not running: start it first")
            # A foreseen move is searched on with the clocks told before it. Tolls and captures would make them wrong.
            await self._introduce(protocol)
            ponder = self._ponder and limit.ponder and limit.plain and limit.root_moves is None
            found = await self._search(
                protocol, ledger, self._limit(limit), limit.deadline_ms, self._only(ledger, limit), ponder=ponder
            )
            return within(ledger, Choice(found.uci, found.score_cp, found.depth), limit)

    def ponder(self, ledger: Ledger, uci: str) -> None:
        """After a move that was looked up, of which the program has foreseen no reply: until the next search."""
        protocol, board = self._protocol, engine_board(ledger)
        if not self._ponder or not isinstance(protocol, Uci) or self._thinking.locked():
            return
        board.push(read_move(board, uci))
        if any(board.generate_legal_moves()):
            self._musing = asyncio.ensure_future(self._muse(protocol, board, ledger.setup.game_id))

    async def _muse(self, protocol: Uci, board: chess.Board, game_id: str) -> None:
        async with self._thinking:
            try:
                async with asyncio.timeout(_GOODBYE_MS / 1000):
                    await self._introduce(protocol)
                    await protocol.analysis(board, game=game_id, info=chess.engine.INFO_NONE)
            except (TimeoutError, EngineError, chess.engine.EngineError):
                # Whoever asks it next starts it anew, and tells.
                await self._kill()

    async def explore(
        self, ledger: Ledger, moves: Sequence[str], *, time_ms: int, deadline_ms: int, nodes: int | None = None
    ) -> Found:
        """The best of some moves (UCI as the game spells them; all where there are none), within time or nodes.

        Raises:
            EngineError: as `think`.
        """
        async with self._thinking:
            protocol = self._protocol
            if protocol is None:
                raise EngineError(f"engine {self._path} is not running: start it first")
            await self._introduce(protocol)
            within = chess.engine.Limit(
                time=max(1, time_ms) / 1000,
                nodes=max(1, nodes) if nodes is not None and self._door.takes_nodes else None,
            )
            return await self._search(protocol, ledger, within, deadline_ms, moves)

    async def _search(
        self,
        protocol: EngineProtocol,
        ledger: Ledger,
        within: chess.engine.Limit,
        deadline_ms: int,
        moves: Sequence[str],
        *,
        ponder: bool = False,
    ) -> Found:
        board = engine_board(ledger)
        if isinstance(protocol, Uci):
            protocol.heads = Heads()
        only = [chess.Move.from_uci(uci) for uci in moves] or None
        search = asyncio.ensure_future(
            protocol.play(board, within, game=ledger.setup.game_id, info=_INFO, root_moves=only, ponder=ponder)
        )
        try:
            result = await self._await_move(protocol, search, deadline_ms)
            choice = accept(ledger, _choice(result, board.turn, self._path), f"engine {self._path}")
            heads = protocol.heads.found(choice.uci) if isinstance(protocol, Uci) else Found(choice.uci)
            return replace(heads, score_cp=choice.score_cp, depth=choice.depth)
        except asyncio.CancelledError:
            await self._quiet(protocol, search)
            raise
        except chess.engine.EngineError as error:
            tail = self._last_words()
            await self._kill()
            raise EngineError(f"engine {self._path} failed: {error}{tail}") from error
        except EngineError:
            search.cancel()
            await self._kill()
            raise

    def _only(self, ledger: Ledger, limit: Limit) -> Sequence[str]:
        """The moves to search, as engines spell them; none: all."""
        if limit.root_moves is None or not self._door.takes_moves:
            return ()
        board = engine_board(ledger)
        return [board.uci(move) for move in allowed(ledger.board, limit.root_moves)]

    def _limit(self, limit: Limit) -> chess.engine.Limit:
        nodes = limit.nodes if limit.nodes is not None else self._nodes
        bounds_ms = [bound for bound in (self._go.get("movetime"), limit.move_ms) if bound is not None]
        bounds = chess.engine.Limit(
            depth=self._go.get("depth"),
            time=min(bounds_ms) / 1000 if bounds_ms else None,
            nodes=max(1, nodes) if nodes is not None and self._door.takes_nodes else None,
        )
        if limit.move_ms is not None:
            return bounds
        return replace(
            bounds,
            white_clock=max(1, limit.white_ms) / 1000,
            black_clock=max(1, limit.black_ms) / 1000,
            white_inc=_seconds(limit.white_increment_ms),
            black_inc=_seconds(limit.black_increment_ms),
        )

    async def _await_move(
        self, protocol: EngineProtocol, search: asyncio.Future[chess.engine.PlayResult], deadline_ms: int
    ) -> chess.engine.PlayResult:
        grace_ms = min(max(deadline_ms // 10, 50), 250, deadline_ms // 2)
        await asyncio.wait({search}, timeout=(deadline_ms - grace_ms) / 1000)
        if not search.done():
            protocol.stop()
            await asyncio.wait({search}, timeout=grace_ms / 1000)
        if not search.done():
            raise EngineError(f"engine {self._path} was silent past its deadline of {deadline_ms} ms and was killed")
        return search.result()

    async def _quiet(self, protocol: EngineProtocol, search: asyncio.Future[chess.engine.PlayResult]) -> None:
        """End an unwanted search for certain: a single `stop` is lost while a new game is announced."""
        try:
            for _ in range(_GOODBYE_MS // _NUDGE_MS):
                protocol.stop()
                await asyncio.wait({search}, timeout=_NUDGE_MS / 1000)
                if search.done() and search.exception() is None:
                    protocol.forget_board()
                    return
        finally:
            if not search.done() or search.exception() is not None:
                search.cancel()
                await self._kill()


def _seconds(increment_ms: int) -> float:
    # Whole seconds stay whole: some XBoard engines read "2.0" as no number.
    return increment_ms / 1000 if increment_ms % 1000 else increment_ms // 1000


def _choice(result: chess.engine.PlayResult, mover: chess.Color, path: str) -> Choice:
    if result.move is None:
        raise EngineError(f"engine {path} {'resigned' if result.resigned else 'gave no move'} instead of moving")
    score = result.info.get("score")
    score_cp = score.pov(mover).score(mate_score=MATE_CP) if score is not None else None
    return Choice(result.move.uci(), score_cp, result.info.get("depth"))
