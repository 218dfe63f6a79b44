"""Against a small Lichess clock that knows what was really thought: the stream alone must tell the same.

The clock follows the platform's rules: first moves free, increments, gifts, berserk, takebacks ply by ply that give
back recorded clocks, pending time charged at the end. Prices are nil, so a KiriChess clock is base − thinking.
"""

import chess
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.records.game import Game
from bridge.records.pgn_writer import to_pgn
from bridge.records.reader import read_lines
from bridge.rules import Ledger, Setup, Snapshot, TimeControl, diff, parse_dials
from bridge.rules.verdict import verdict

BASE_S = 4_000
RULES = parse_dials(
    {
        "base_s": BASE_S,
        "economy": {"gain": 0, "loss": 0},
        "chip_s": 0,
        "tolls_s": dict.fromkeys(("pawn", "knight", "bishop", "rook", "queen", "king", "castling"), 0),
    }
)


class LichessClock:
    """Two clocks in ms, and beside them the thinking that the players did not get back."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.board = chess.Board()
        self.clock = [control.start_ms(True)] * 2
        self.start = self.clock[:]
        self.recorded: list[list[int]] = [[], []]
        self.thought: list[list[int]] = [[], []]
        """By side: of each standing ply."""
        self.lost: list[list[tuple[int, int]]] = [[], []]
        """By side: (how many plies stood then, thinking) of plies taken back."""
        self.increment = [control.increment_ms] * 2
        self.running = False
        self.pending = 0
        self.now = 0

    def move(self, choice: int, think: int) -> None:
        side = self.board.turn
        legal = sorted(self.board.legal_moves, key=chess.Move.uci)
        self.board.push(legal[choice % len(legal)])
        self.pass_time(think)
        took = self.pending if self.running else 0
        self.clock[side] += self.increment[side] - took if self.running else 0
        self.recorded[side].append(self.clock[side])
        self.thought[side].append(took)
        self.pending = 0
        self.running = self.running or self.board.ply() >= 2

    def pass_time(self, ms: int) -> None:
        self.now += ms
        if self.running:
            self.pending += min(ms, self.clock[self.board.turn] - self.pending - 10)

    def take_back(self, plies: int) -> None:
        for _ in range(plies):
            other = self.board.turn
            side = not other
            self.clock[other] = self.recorded[other][-1] if self.recorded[other] else self.start[other]
            # Back at its last standing ply: what was lost since then is given back after all.
            self.lost[other] = [(stood, ms) for stood, ms in self.lost[other] if stood < len(self.recorded[other])]
            self.recorded[side].pop()
            self.lost[side].append((len(self.recorded[side]), self.thought[side].pop()))
            self.board.pop()
        self.pending = 0

    def spent(self, side: chess.Color) -> int:
        return sum(self.thought[side]) + sum(ms for _, ms in self.lost[side])

    def line(self, status: str = "started") -> Snapshot:
        shown = self.clock[:]
        shown[self.board.turn] -= self.pending
        moves = [move.uci() for move in self.board.move_stack]
        return Snapshot(moves, status, white_ms=shown[1], black_ms=shown[0], at_ms=self.now)


THINK = st.integers(0, 1_500).map(lambda centiseconds: centiseconds * 10)
MOVE = st.tuples(st.just("move"), st.integers(0, 40), THINK)
STEPS = st.one_of(
    MOVE,
    MOVE,
    MOVE,
    st.tuples(st.just("gift"), st.integers(5, 60), THINK),
    st.tuples(st.just("takeback"), st.integers(1, 3), THINK),
    st.tuples(st.just("repeat"), st.just(0), THINK),
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from((TimeControl(300_000, 0), TimeControl(180_000, 2_000), TimeControl(600_000, 5_000))),
    st.sets(st.booleans()),
    st.lists(STEPS, max_size=30),
    st.booleans(),
)
def test_the_stream_tells_what_was_thought(
    control: TimeControl, berserk: set[bool], steps: list[tuple[str, int, int]], gift_to_mover: bool
) -> None:
    lichess = LichessClock(control)
    ledger = Ledger(Setup("g", RULES, "stream", 10, time_control=control, free_first_moves=True))
    for side in berserk:
        lichess.clock[side] = lichess.start[side] = control.berserk_ms(True)
        lichess.increment[side] = 0
    take(ledger, lichess.line())
    for kind, amount, think in steps:
        if kind == "move":
            if lichess.board.is_game_over() or not any(lichess.board.legal_moves):
                break
            lichess.move(amount, think)
        elif kind == "gift" and lichess.board.ply() >= 2:
            lichess.pass_time(think)
            if lichess.pending == amount * 1000:
                continue  # to the millisecond a line repeated: nobody can tell
            lichess.clock[lichess.board.turn if gift_to_mover else not lichess.board.turn] += amount * 1000
        elif kind == "takeback" and amount <= lichess.board.ply():
            lichess.pass_time(think)
            lichess.take_back(amount)
        elif kind == "repeat":
            lichess.pass_time(think)
        take(ledger, lichess.line())
        if ledger.outcome is not None:
            return
        for side in chess.COLORS:
            assert BASE_S * 1000 - ledger.clock_ms(side) == lichess.spent(side), (kind, chess.COLOR_NAMES[side])
    pending = lichess.pending
    take(ledger, lichess.line("resign"))
    turn = lichess.board.turn
    assert BASE_S * 1000 - ledger.clock_ms(turn) == lichess.spent(turn) + pending
    if lichess.board.ply() >= 2:
        (game,) = read_lines(enumerate(to_pgn(verdict(ledger, final=True)).split("\n"), 1), "pgn")
        assert isinstance(game, Game), game
        again = game.judge(RULES)
        assert (again.white_ms if turn else again.black_ms) == ledger.clock_ms(turn), "so does the PGN written of it"


def take(ledger: Ledger, line: Snapshot) -> None:
    for event in diff(ledger, line):
        ledger.apply(event)
