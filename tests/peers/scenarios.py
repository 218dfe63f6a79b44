"""What happens to the programs: each scenario's games, faults, and how long the fault itself may hold a move up."""

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import chess

from bridge.arena import Arena, Fate, offers, referee
from bridge.arena.faults import Answer
from bridge.arena.game import Game
from bridge.arena.hall import Hall
from bridge.arena.happenings import Happening
from bridge.arena.streams import StreamName

PEER = "peer"
_PAGE = b"<html><h1>Oops</h1></html>"


@dataclass(slots=True)
class Order:
    """An answer in place of the real one: to requests of these kinds (all where none is named), `times` or until."""

    kinds: tuple[str, ...]
    answer: Answer
    times: int
    until_ms: int
    topic: str


class Stage:
    """One arena's faults, all of them for the program alone: it stands where the arena asks for faults."""

    def __init__(self) -> None:
        self.arena: Arena | None = None
        self._orders: list[Order] = []

    @property
    def hall(self) -> Hall:
        assert self.arena is not None, "the arena is not open yet"
        return self.arena.hall

    def order(self, answer: Answer, *kinds: str, times: int = 10**9, for_s: float = 10**6, topic: str = "") -> None:
        until_ms = self.hall.now_ms() + round(1000 * for_s)
        self._orders.append(Order(kinds, answer, times, until_ms, topic))

    def before(self, kind: str, account: str, path: str) -> Answer | None:
        for order in self._orders if account == PEER else ():
            fits = (not order.kinds or kind in order.kinds) and order.topic in path
            if fits and order.times > 0 and self.hall.now_ms() < order.until_ms:
                order.times -= 1
                return order.answer
        return None

    def on_line(self, stream: StreamName) -> Fate:
        return Fate.PASS

    def break_off(self, fate: Fate, kind: str = "", topic: str = "") -> None:
        """Such open streams, now."""
        for stream in list(self.hall.audience.open):
            if stream.name.account == PEER and kind in ("", stream.name.kind) and topic in ("", stream.name.topic):
                stream.break_off(fate)

    def happen(self, game: Game, deed: Callable[[int], list[Happening]]) -> None:
        """What a player does, unless the game is over; `deed` is given the time."""
        if not game.over:
            self.hall.happen(game, deed(self.hall.game_now_ms(game)))


Strike: TypeAlias = Callable[[Stage, Game], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """One game. The fault strikes just before the rival's move that makes ply `at`, so that the program misses it.

    The program has the colour that is on move after `at` plies. It is offered `offered_s` after the scenario begins, or
    `after_fault_s` after the first fault of another game.
    """

    at: int = 7
    strike: Strike | None = None
    plies: int = 24
    offered_s: float = 0.0
    after_fault_s: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """`allowed_s`: by how much the fault itself may hold up the moves it strikes. `engine`: orders to the engine.

    `always`: a fault from the beginning to the end.
    """

    name: str
    plans: tuple[Plan, ...]
    allowed_s: float = 0.0
    engine: Mapping[str, object] = field(default_factory=dict)
    always: Callable[[Stage], None] | None = None


def a_line(plies: int = 80) -> list[str]:
    """A game that both sides can play for so long: legal, without an end and without a repetition."""
    chance, board = random.Random(5), chess.Board()
    while len(board.move_stack) < plies:
        move = chance.choice(list(board.legal_moves))
        board.push(move)
        if board.is_game_over() or board.is_repetition(2):
            board.pop()
    return [move.uci() for move in board.move_stack]


# -- faults ------------------------------------------------------------------------------------------------------


def _events(fate: Fate, stage: Stage, game: Game) -> None:
    stage.break_off(fate, "event")


def _game(fate: Fate, stage: Stage, game: Game) -> None:
    stage.break_off(fate, "game", game.id)


def _moves(answer: Answer, times: int, for_s: float, stage: Stage, game: Game) -> None:
    stage.order(answer, "move", times=times, for_s=for_s, topic=game.id)


def _outage(for_s: float, stage: Stage, game: Game) -> None:
    stage.order(_DOWN, for_s=for_s)
    stage.break_off(Fate.RESET)


def _no_chat(stage: Stage) -> None:
    stage.order(Answer(429, b'{"error":"Too many requests"}'), "chat")


def _nothing(stage: Stage, game: Game) -> None:
    """The engine's orders are the fault, or there is none."""


def _takeback(stage: Stage, game: Game) -> None:
    offer = partial(stage.happen, game, partial(offers.takeback_yes, game, _rival(game)))
    asyncio.get_running_loop().call_later(0.5, offer)


def _add_time(stage: Stage, game: Game) -> None:
    """Before the rival's move, and while the program thinks about its answer."""
    give = partial(stage.happen, game, partial(referee.give_time, game, _rival(game), 15))
    give()
    asyncio.get_running_loop().call_later(0.5, give)


def _abort(stage: Stage, game: Game) -> None:
    stage.happen(game, partial(referee.abort, game))


def _rival(game: Game) -> chess.Color:
    return game.white.id != PEER


_FIGURE = Answer(
    429, b'{"error":"Too many requests","ratelimit":{"key":"move","seconds":3}}', headers={"Retry-After": "3"}
)
_HTML = Answer(429, b"<html>429 Too Many Requests</html>", "text/html")
_DOWN = Answer(503, _PAGE, "text/html")
_LOST = Answer(0, after=True)
_SLOW = Answer(200, b'{"ok":true}', after=True, delay_s=4.0)


def _at_plies(strike: Strike) -> tuple[Plan, ...]:
    """Three games, struck in the opening, early and later; not begun at the same moment, which is a test by itself."""
    return tuple(Plan(at, strike, offered_s=offered_s) for at, offered_s in ((14, 0.0), (7, 1.5), (2, 3.0)))


def _with_new_game(strike: Strike) -> tuple[Plan, ...]:
    """A running game, and another one that is offered a second after the fault."""
    return (Plan(8, strike, plies=30), Plan(8, plies=12, after_fault_s=1.0))


SCENARIOS = (
    Scenario("undisturbed", (Plan(plies=40, strike=_nothing),)),
    Scenario("four games offered at once", (Plan(8), Plan(7), Plan(8), Plan(7))),
    Scenario("event stream ends", _with_new_game(partial(_events, Fate.END))),
    Scenario("event stream reset", _with_new_game(partial(_events, Fate.RESET))),
    Scenario("event stream silent", _with_new_game(partial(_events, Fate.SILENCE)), 16.0),
    Scenario("game stream ends", _at_plies(partial(_game, Fate.END))),
    Scenario("game stream reset", _at_plies(partial(_game, Fate.RESET))),
    Scenario("game stream silent", _at_plies(partial(_game, Fate.SILENCE)), 16.0),
    Scenario("move: 429, wait 3 s", _at_plies(partial(_moves, _FIGURE, 1, 60.0)), 3.0),
    Scenario("move: 429, HTML page", _at_plies(partial(_moves, _HTML, 1, 60.0)), 60.0),
    Scenario("move: 503 for 2 s", _at_plies(partial(_moves, _DOWN, 10**9, 2.0)), 2.0),
    Scenario("move played, answer lost", _at_plies(partial(_moves, _LOST, 1, 60.0))),
    Scenario("move played, answer after 4 s", _at_plies(partial(_moves, _SLOW, 1, 60.0))),
    Scenario("all down for 6 s", _with_new_game(partial(_outage, 6.0)), 6.0),
    Scenario("chat refused (429)", (Plan(8), Plan(7, offered_s=1.5)), always=_no_chat),
    Scenario("engine crashes once", (Plan(7, _nothing),), 1.0, {"fail_from": 7, "crashes": 1}),
    Scenario("engine crashes 5 times", (Plan(7, _nothing),), 5.0, {"fail_from": 7, "crashes": 5}),
    Scenario("engine hangs once", (Plan(7, _nothing),), 10.0, {"fail_from": 7, "hangs": 1}),
    Scenario("takeback while thinking", (Plan(7, _takeback),), 1.5, {"think": {"7": 1.5}}),
    Scenario("time added while thinking", (Plan(7, _add_time),), 1.0, {"think": {"7": 1.0}}),
    Scenario("aborted before move 2", (Plan(2, _abort), Plan(8, plies=12, after_fault_s=0.5))),
)
