"""Does a UCI program keep to the protocol? The questions that matter to the bridge, each on its own."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import chess

from bridge.errors import EngineError
from bridge.lab.uci_pipe import UciPipe

_MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
_MATED = "R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"
_CHESS960 = "1rk4r/pppppppp/8/8/8/8/PPPPPPPP/1RK4R w HBhb - 0 1"
_PATIENCE_S = 5.0
_STOP_S = 1.0
_LONGEST_S = 20.0
"""No question here asks for more than a second's work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One question and its answer; `needed`: the bridge cannot do without."""

    question: str
    ok: bool
    detail: str
    needed: bool = True


def check_engine(path: str, args: tuple[str, ...] = (), *, longest_s: float = _LONGEST_S) -> Iterator[Finding]:
    """Ask everything; a program that dies is started again for the next question.

    Raises:
        EngineError: it cannot be executed at all, or is no UCI engine.
    """
    pipe = UciPipe(path, args=args, longest_s=longest_s)
    began = time.monotonic()
    pipe.start()
    took_ms = round((time.monotonic() - began) * 1000)
    yield Finding("uci and isready are answered", True, f"{pipe.name}, after {took_ms} ms")
    yield Finding("it has a name", pipe.name != path, pipe.name, needed=False)
    wrong = [line for line in pipe.offered.values() if not _is_option(line)]
    yield Finding("its options can be read", not wrong, wrong[0] if wrong else f"{len(pipe.offered)} options")
    try:
        for question, ask, needed in _QUESTIONS:
            yield _answered(pipe, question, ask, needed)
        yield _quits(pipe)
    finally:
        pipe.close()


def _answered(pipe: UciPipe, question: str, ask: Callable[[UciPipe], str], needed: bool) -> Finding:
    try:
        pipe.start()
        return Finding(question, True, ask(pipe), needed)
    except EngineError as error:
        # Whatever is left of the answer must not be taken for the next one's.
        pipe.close()
        return Finding(question, False, str(error), needed)


def _is_option(line: str) -> bool:
    kinds = ("check", "spin", "combo", "button", "string")
    return any(f" type {kind}" in line for kind in kinds)


def _searches(position: str, go: str) -> Callable[[UciPipe], str]:
    def ask(pipe: UciPipe) -> str:
        began = time.monotonic()
        found, _ = pipe.search(position, go)
        _require_legal(position, found.uci)
        return f"{found.uci}, {round((time.monotonic() - began) * 1000)} ms"

    return ask


def _require_legal(position: str, uci: str) -> None:
    head, _, moves = position.partition(" moves ")
    board = chess.Board() if head == "startpos" else chess.Board(head.removeprefix("fen "))
    for move in moves.split():
        board.push_uci(move)
    try:
        board.parse_uci(uci)
    except ValueError as error:
        raise EngineError(f"it answered {uci!r}, which is no legal move") from error


def _keeps_to_searchmoves(pipe: UciPipe) -> str:
    found, _ = pipe.search("startpos", "nodes 2000 searchmoves a2a3 h2h3")
    if found.uci not in ("a2a3", "h2h3"):
        raise EngineError(f"it answered {found.uci}, which it was not to look at: kiri cannot exclude moves with it")
    return found.uci


def _sees_mate(pipe: UciPipe) -> str:
    found, _ = pipe.search(f"fen {_MATE_IN_ONE}", "depth 4")
    if found.uci != "a1a8":
        raise EngineError(f"it answered {found.uci} where a1a8 is mate")
    return f"{found.uci}, score {found.score_cp}"


def _stops(pipe: UciPipe) -> str:
    pipe.send("position startpos\ngo infinite")
    time.sleep(0.1)
    began = time.monotonic()
    pipe.send("stop")
    _read_until(pipe, "bestmove")
    took = time.monotonic() - began
    if took > _STOP_S:
        raise EngineError(f"it took {took:.1f} s to stop")
    return f"{round(took * 1000)} ms"


def _read_until(pipe: UciPipe, last: str) -> None:
    for _ in pipe.lines_until(last, _PATIENCE_S):
        pass


def _is_ready_while_thinking(pipe: UciPipe) -> str:
    pipe.send("position startpos\ngo infinite\nisready")
    if any(line.startswith("bestmove") for line in pipe.lines_until("readyok", _PATIENCE_S)):
        raise EngineError("it ended an infinite search by itself")
    pipe.send("stop")
    _read_until(pipe, "bestmove")
    return "answered at once"


def _is_quiet_when_mated(pipe: UciPipe) -> str:
    found, _ = pipe.search(f"fen {_MATED}", "depth 2")
    if found.uci not in ("(none)", "0000", "", "NULL", "none"):
        raise EngineError(f"it answered {found.uci} where there is no move")
    return found.uci or "no move"


def _ignores_nonsense(pipe: UciPipe) -> str:
    pipe.send("joho debug on\nsetoption name No Such Option value 1")
    pipe.ready()
    return "ignored"


def _castles_in_chess960(pipe: UciPipe) -> str:
    if "UCI_Chess960" not in pipe.offered:
        raise EngineError("no option UCI_Chess960: it cannot play chess960")
    pipe.send("setoption name UCI_Chess960 value true")
    found, _ = pipe.search(f"fen {_CHESS960}", "depth 3 searchmoves c1h1")
    pipe.send("setoption name UCI_Chess960 value false")
    if found.uci != "c1h1":
        raise EngineError(f"castling as king takes rook was answered with {found.uci}")
    return "king takes rook"


def _quits(pipe: UciPipe) -> Finding:
    question = "quit ends it"
    try:
        pipe.start()
        pipe.send("quit")
        began = time.monotonic()
        while time.monotonic() - began < _PATIENCE_S:
            pipe.line(_PATIENCE_S)
    except EngineError as error:
        return Finding(question, "died" in str(error), "yes" if "died" in str(error) else str(error), needed=False)
    return Finding(question, False, f"it still runs after {_PATIENCE_S:g} s", needed=False)


_QUESTIONS: tuple[tuple[str, Callable[[UciPipe], str], bool], ...] = (
    ("go nodes", _searches("startpos", "nodes 1000"), True),
    ("go nodes 1 ends", _searches("startpos", "nodes 1"), True),
    ("go depth", _searches("startpos moves e2e4 e7e5", "depth 3"), True),
    ("go movetime", _searches("startpos", "movetime 100"), True),
    ("go with clocks", _searches("startpos", "wtime 1000 btime 1000 winc 0 binc 0"), True),
    ("go with an almost empty clock", _searches("startpos", "wtime 20 btime 1000 winc 0 binc 0"), True),
    ("a position from a FEN, with moves", _searches(f"fen {_MATE_IN_ONE} moves e1e2 g8f8", "depth 2"), True),
    ("searchmoves are kept to", _keeps_to_searchmoves, False),
    ("it sees a mate in one", _sees_mate, False),
    ("stop ends a search", _stops, True),
    ("isready is answered while it thinks", _is_ready_while_thinking, True),
    ("a position without moves is survived", _is_quiet_when_mated, False),
    ("unknown commands are ignored", _ignores_nonsense, False),
    ("chess960 castling", _castles_in_chess960, False),
)
