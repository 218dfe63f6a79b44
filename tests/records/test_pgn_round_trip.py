"""Every game that we write comes back by our own reader to the same ledger, and by python-chess whole."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import chess
import chess.pgn
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.records.game import Game
from bridge.records.pgn_writer import as_counted, to_pgn
from bridge.records.reader import read_lines
from bridge.rules.diff import diff
from bridge.rules.ledger import Ledger, Row
from bridge.rules.pools import NAMED, Ruleset, parse_dials
from bridge.rules.position import read_move, start_board
from bridge.rules.snapshot import Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge, verdict

POSITIONS: Sequence[tuple[str | None, bool]] = (
    (None, False),
    (None, False),
    ("8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1", False),
    ("r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 12 34", False),
    ("1r2k1r1/p6p/8/8/8/8/P6P/1R2K1R1 w GBgb - 0 1", True),
    ("nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN w KQkq - 0 1", True),
    ("4k3/8/8/8/8/8/4P3/4K3 b - - 97 80", False),
)
CONTROLS = (TimeControl(300_000, 0), TimeControl(180_000, 2_000), TimeControl(0, 3_000), TimeControl(600_000, 5_000))
SITES = ("https://lichess.org/abcdefgh", "http://127.0.0.1:8080/abcdefgh", "")
ENDS = ("resign", "draw", "outoftime", "timeout", "noStart", "cheat", "aborted", "unknownFinish", "variantEnd",
        "started", "insufficientMaterialClaim")  # fmt: skip
RULES = [parse_dials({"pool": name}) for name in NAMED]
RULES += [parse_dials({"base_s": 12, "increment_s": 1.5, "promotion_fee": 2, "berserk": "halve"})]
RULES += [parse_dials({"f_mode": 2.5, "base_s": 40, "platform_timeout": "unfinished", "dead_position": "exact"})]


@dataclass(frozen=True)
class Step:
    """What happens between two lines of a stream: `kind` and a number that picks a move, a gift or how many plies."""

    kind: str
    pick: int
    think_ms: int


THINK = st.integers(0, 3_000).map(lambda centiseconds: 10 * centiseconds)
KINDS = st.sampled_from(["move"] * 12 + ["unseen", "gift", "takeback", "jump", "replaced"])
STEPS = st.lists(st.builds(Step, KINDS, st.integers(0, 60), THINK), max_size=40)


class Stream:
    """Lines of a stream as a platform tells them, sense or not."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.board = chess.Board(setup.start_fen or chess.STARTING_FEN, chess960=setup.chess960)
        assert setup.time_control is not None
        self.start_ms = setup.time_control.start_ms(setup.free_first_moves)
        self.increment_ms = setup.time_control.increment_ms
        self.clock = [self.start_ms] * 2
        self.told = True

    def line(self, status: str = "started", winner: chess.Color | None = None) -> Snapshot:
        moves = [self.board.uci(move, chess960=self.setup.chess960) for move in self.board.move_stack]
        return Snapshot(moves, status, winner, white_ms=self.clock[1], black_ms=self.clock[0])

    def take(self, step: Step) -> None:
        self.told = step.kind != "unseen"
        match step.kind:
            case "move" | "unseen":
                self.move(step)
            case "gift":
                self.clock[step.pick % 2] += 1000 * (5 + step.pick)
            case "jump":
                self.clock[step.pick % 2] = max(10, self.clock[step.pick % 2] - step.think_ms // 2)
            case "takeback" | "replaced":
                for _ in range(min(1 + step.pick % 3, len(self.board.move_stack))):
                    self.board.pop()
                if step.kind == "replaced":
                    self.move(step)

    def move(self, step: Step) -> None:
        legal = sorted(self.board.legal_moves, key=chess.Move.uci)
        if not legal:
            return
        side, timed = self.board.turn, len(self.board.move_stack) > 1 or not self.setup.free_first_moves
        if timed:
            think_ms = min(step.think_ms, self.clock[side] - 10)
            self.clock[side] += self.increment_ms - think_ms
        self.board.push(legal[step.pick % len(legal)])


def streamed(
    setup: Setup, steps: Sequence[Step], berserk: frozenset[chess.Color], end: str, pending_ms: int
) -> Verdict:
    stream = Stream(setup)
    ledger = Ledger(setup)
    lines = [replace(stream.line(), berserk=berserk)]
    for step in steps:
        stream.take(step)
        if stream.told and step.kind in ("move", "unseen") and not stream.board.move_stack:
            continue
        if stream.told:
            lines.append(stream.line())
    turn = stream.board.turn
    stream.clock[turn] = (
        max(0, stream.clock[turn] - pending_ms) if len(stream.board.move_stack) > 1 else stream.clock[turn]
    )
    winner = None if end in ("draw", "aborted", "unknownFinish", "started", "insufficientMaterialClaim") else not turn
    if stream.board.is_checkmate():
        end, winner = "mate", not turn
    elif stream.board.is_stalemate():
        end, winner = "stalemate", None
    lines.append(stream.line(end, winner))
    for line in lines:
        for event in diff(ledger, line):
            ledger.apply(event)
    return verdict(ledger, final=True)


def read(text: str) -> Game:
    (game,) = read_lines(enumerate(text.split("\n"), 1), "x")
    assert isinstance(game, Game), game
    return game


def ledger_of(judged: Verdict) -> list[Row]:
    """Its rows; the platform's own clocks are compared apart, by the plies that stand on it."""
    return [replace(row, reading_ms=None, credited_ms=0) for row in judged.rows]


def the_same(judged: Verdict, again: Verdict) -> None:
    assert ledger_of(again) == ledger_of(judged)
    assert (again.white_ms, again.black_ms) == (judged.white_ms, judged.black_ms)
    assert (again.outcome, again.plies, again.moves) == (judged.outcome, judged.plies, judged.moves)
    assert again.readings_ms == judged.readings_ms
    assert (again.setup.source, again.setup.precision_ms) == (judged.setup.source, judged.setup.precision_ms)
    assert again.certain == judged.certain
    assert (again.platform and replace(again.platform, pending_ms=0)) == (
        judged.platform and replace(judged.platform, pending_ms=0)
    )
    assert again.setup.rules == judged.setup.rules
    assert "effects_mismatch" not in [anomaly.kind for anomaly in again.anomalies]


def comes_back(told: Verdict) -> None:
    text = to_pgn(told)
    judged = as_counted(told)
    game = read(text)
    again = game.judge(parse_dials(game.rules or {}))
    the_same(judged, again)
    the_same(again, read(to_pgn(again)).judge(judged.setup.rules))
    by_others(judged, text)
    if judged is told:
        assert to_pgn(told, sans=_sans(told)) == text


def _sans(judged: Verdict) -> list[str]:
    board = start_board(judged.start_fen)
    return [board.san_and_push(read_move(board, uci)) for uci in judged.moves]


def by_others(judged: Verdict, text: str) -> None:
    """python-chess finds every tag, move and clock."""
    told = chess.pgn.read_game(io.StringIO(text))
    assert told is not None
    assert told.errors == []
    board = start_board(judged.start_fen)
    for uci in judged.moves:
        board.push(read_move(board, uci))
    assert told.end().board().fen() == board.fen()
    clocks = [node.clock() for node in told.mainline()]
    assert [None if clock is None else round(1000 * clock) for clock in clocks] == list(judged.readings_ms)
    assert told.headers["KiriResult"] == judged.outcome.result
    assert json.loads(told.headers["KiriRules"].replace('\\"', '"')) == judged.setup.rules.dials.to_mapping()


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(POSITIONS),
    st.sampled_from(CONTROLS),
    st.sampled_from(SITES),
    st.sampled_from(RULES),
    STEPS,
    st.sampled_from([frozenset(), frozenset({True}), frozenset({False, True})]),
    st.sampled_from(ENDS),
    THINK,
    st.booleans(),
)
def test_what_was_streamed_comes_back(
    position: tuple[str | None, bool],
    control: TimeControl,
    site: str,
    rules: Ruleset,
    steps: list[Step],
    berserk: frozenset[chess.Color],
    end: str,
    pending_ms: int,
    free: bool,
) -> None:
    fen, chess960 = position
    setup = Setup("abcdefgh", rules, "stream", 10, fen, chess960, control, free, "Ann", "Bob", site)
    comes_back(streamed(setup, steps, berserk, end, pending_ms))


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(POSITIONS),
    st.sampled_from([None, *CONTROLS]),
    st.sampled_from(RULES),
    st.lists(st.tuples(st.integers(0, 60), st.none() | THINK), max_size=30),
    st.sampled_from(["think", "clocks", "none"]),
    st.none() | THINK,
    st.sampled_from([None, "resign", "draw", "outoftime"]),
)
def test_records_come_back(
    position: tuple[str | None, bool],
    control: TimeControl | None,
    rules: Ruleset,
    plies: list[tuple[int, int | None]],
    source: str,
    final_ms: int | None,
    end: str | None,
) -> None:
    fen, chess960 = position
    if source == "clocks" and control is None:
        control = CONTROLS[0]
    setup = Setup("rec", rules, source, None if source == "none" else 0, fen, chess960, control)
    board = chess.Board(fen or chess.STARTING_FEN, chess960=chess960)
    moves, times = [], []
    left = [control.initial_ms if control else 0] * 2
    for pick, think_ms in plies:
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        left[board.turn] += (control.increment_ms if control else 0) - (think_ms or 0)
        times.append(None if think_ms is None else think_ms if source == "think" else max(0, left[board.turn]))
        move = legal[pick % len(legal)]
        moves.append(board.uci(move, chess960=chess960))
        board.push(move)
    winner = None if end in (None, "draw") else not board.turn
    snapshot = Snapshot(
        moves,
        end or "recordEnd",
        winner,
        clocks_ms=times if source == "clocks" else None,
        think_ms=times if source == "think" else None,
        final_think_ms=0 if source == "none" else final_ms,
    )
    comes_back(judge(setup, snapshot))
