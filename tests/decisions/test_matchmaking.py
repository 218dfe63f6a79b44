"""Whom a bot challenges, with what, and whom it leaves alone."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest

from bridge.decisions.challenge import DAY_MS
from bridge.decisions.matchmaking import Answered, Bot, Kind, MatchPolicy, Outcome, choose, due, perf_of
from bridge.rules.snapshot import TimeControl

RAPID, BLITZ = TimeControl(600_000, 0), TimeControl(300_000, 0)
ME = Bot("kiri", {"rapid": 2000, "blitz": 2000})
WEAK, EQUAL, STRONG = (
    Bot(name, {"rapid": rating, "blitz": rating}, {"rapid": 50, "blitz": 5})
    for name, rating in (("weak", 1500), ("equal", 2010), ("strong", 2600))
)
BOTS = [WEAK, EQUAL, STRONG]
KIND = Kind("", clocks=(RAPID,))
POLICY = MatchPolicy((KIND,), back_off_ms=60_000)
NOW_MS = 10 * DAY_MS


def always(number: float) -> Callable[[], float]:
    return lambda: number


def answered(opponent: str, outcome: Outcome, *, ago_ms: int = 0, color: str = "random", **more: Any) -> Answered:
    terms: dict[str, Any] = {"kind": "", "perf": "rapid", "rated": False, "wait_ms": 0, "clock": RAPID, **more}
    return Answered(NOW_MS - ago_ms, opponent, color=color, outcome=outcome, **terms)


def opponents(policy: MatchPolicy, memory: list[Answered] = [], bots: list[Bot] = BOTS) -> set[str]:  # noqa: B006
    found = [choose(policy, bots, ME, memory, NOW_MS, always(step / 50)) for step in range(50)]
    return {proposal.opponent for proposal in found if proposal is not None}


def of(**changes: Any) -> MatchPolicy:
    return replace(POLICY, kinds=(replace(KIND, **changes),))


def test_anybody_but_oneself_and_those_that_are_blocked() -> None:
    assert opponents(POLICY, bots=[*BOTS, ME]) == {"weak", "equal", "strong"}
    assert opponents(replace(POLICY, blocked=frozenset({"weak"}))) == {"equal", "strong"}
    assert opponents(POLICY, bots=[ME]) == set()


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"min_rating": 2000}, {"equal", "strong"}),
        ({"max_rating": 2100}, {"weak", "equal"}),
        ({"rating_difference": 100}, {"equal"}),
        ({"rating_difference": 100, "min_rating": 2500}, {"equal"}),
        ({"target_rating_diff": 500}, {"strong"}),
        ({"min_rating_diff": 10}, {"weak", "equal", "strong"}),
        ({"min_rating_diff": 11}, {"weak", "strong"}),
        ({"min_rating_diff": 11, "rating_difference": 500}, {"weak"}),
        ({"min_games": 20, "clocks": (BLITZ,)}, set()),
    ],
)
def test_ratings_and_games_bound_the_choice(changes: dict[str, object], left: set[str]) -> None:
    assert opponents(of(**changes)) == left


@pytest.mark.parametrize(("preference", "most"), [("high", "strong"), ("low", "weak")])
def test_the_extreme_that_is_preferred_comes_twice_as_often(preference: str, most: str) -> None:
    policy = of(preference=preference)
    found = [choose(policy, [WEAK, STRONG], ME, [], NOW_MS, always(step / 300)) for step in range(300)]
    assert sum(proposal is not None and proposal.opponent == most for proposal in found) == 200


def test_every_failure_doubles_the_rest_and_a_game_ends_the_doubling() -> None:
    def rests(memory: list[Answered], ms: int) -> bool:
        shifted = [replace(answer, at_ms=answer.at_ms - ms) for answer in memory]
        return choose(POLICY, [WEAK], ME, shifted, NOW_MS, always(0)) is None

    once = [answered("weak", "lapsed")]
    assert rests(once, 59_999) and not rests(once, 60_000)
    thrice = [answered("weak", "declined", ago_ms=9 - n) for n in range(3)]
    assert rests(thrice, 239_000) and not rests(thrice, 240_000)
    many = [answered("weak", "declined", ago_ms=99 - n) for n in range(50)]
    assert rests(many, DAY_MS - 200) and not rests(many, DAY_MS)
    played = [*thrice, answered("weak", "accepted")]
    assert rests(played, 59_999) and not rests(played, 60_000)


def test_an_opponent_at_its_daily_limit_is_left_alone_for_the_time_given() -> None:
    memory = [answered("weak", "limit", ago_ms=3_600_000, wait_ms=7_200_000)]
    assert opponents(POLICY, memory) == {"equal", "strong"}
    assert "weak" in opponents(POLICY, [replace(memory[0], wait_ms=3_600_000)])


def test_a_decline_spares_nobody_the_bot_or_the_kind_of_game() -> None:
    memory = [answered("weak", "declined", ago_ms=DAY_MS // 2)]
    assert "weak" in opponents(POLICY, memory)
    assert "weak" not in opponents(replace(POLICY, filter="coarse"), memory)
    assert "weak" not in opponents(replace(POLICY, filter="fine"), memory)
    assert "weak" in opponents(replace(of(clocks=(BLITZ,)), filter="fine"), memory)
    assert "weak" in opponents(replace(POLICY, filter="coarse"), [replace(memory[0], at_ms=NOW_MS - DAY_MS)])


def test_a_pair_is_two_games_with_colours_changed() -> None:
    policy = replace(of(pairs=True), back_off_ms=DAY_MS)
    first = choose(policy, [WEAK], ME, [], NOW_MS, always(0))
    assert first is not None and first.color == "white"
    played = [answered("weak", "accepted", color="white")]
    second = choose(policy, BOTS, ME, played, NOW_MS, always(0.99))
    assert second is not None and (second.opponent, second.color) == ("weak", "black")
    assert choose(policy, [WEAK], ME, [*played, answered("weak", "declined", color="black")], NOW_MS, always(0)) is None
    assert choose(policy, [WEAK], ME, [*played, answered("weak", "accepted", color="black")], NOW_MS, always(0)) is None


def test_both_games_of_a_pair_have_the_same_clock() -> None:
    other = TimeControl(900_000, 0)
    policy = of(pairs=True, clocks=(other, RAPID))
    second = choose(policy, BOTS, ME, [answered("weak", "accepted", color="white")], NOW_MS, always(0))
    assert second is not None and (second.clock, second.color) == (RAPID, "black")


def test_kinds_come_by_weight_in_turn_or_as_they_find_opponents() -> None:
    one, two = replace(KIND, name="one", weight=3.0), replace(KIND, name="two", clocks=(BLITZ,), weight=1.0)

    def kind(policy: MatchPolicy, number: float, memory: list[Answered]) -> str:
        draws = cycle([number, 0.0, 0.0])
        found = choose(policy, BOTS, ME, memory, NOW_MS, lambda: next(draws))
        return found.kind if found else ""

    policy = MatchPolicy((one, two))
    assert [kind(policy, step / 8, []) for step in range(8)].count("one") == 6
    cyclic = replace(policy, selection="cyclic")
    assert kind(cyclic, 0.9, []) == "one"
    assert kind(cyclic, 0.0, [answered("gone", "declined", kind="one")]) == "two"
    assert kind(cyclic, 0.0, [answered("gone", "declined", kind="two")]) == "one"
    sequential = replace(policy, selection="sequential", kinds=(replace(one, min_rating=3000), two))
    assert kind(sequential, 0.0, []) == "two"


def test_without_weights_each_kind_gets_the_same_time() -> None:
    long, short = (Kind(name, clocks=(clock,), weight=None) for name, clock in (("long", RAPID), ("short", BLITZ)))
    policy = MatchPolicy((long, short))
    draws = [step / 300 for step in range(300)]
    found = [choose(policy, BOTS, ME, [], NOW_MS, always(number)) for number in draws]
    assert [proposal.kind for proposal in found if proposal].count("long") == pytest.approx(100, abs=2)


def test_a_kind_without_a_weight_counts_as_one_beside_those_that_have_one() -> None:
    policy = MatchPolicy((replace(KIND, name="one", weight=3.0), replace(KIND, name="two", weight=None)))
    found = [choose(policy, BOTS, ME, [], NOW_MS, always(step / 40)) for step in range(40)]
    assert [proposal.kind for proposal in found if proposal].count("two") == 10


@pytest.mark.parametrize(
    ("games", "idle_ms", "since_ms", "during", "is_due"),
    [
        (0, 60_000, 60_000, False, True),
        (0, 59_999, 60_000, False, False),
        (0, 60_000, 59_999, False, False),
        (1, 60_000, 900_000, False, False),
        (1, 0, 600_000, True, True),
        (1, 0, 599_999, True, False),
    ],
)
def test_when_it_is_time(games: int, idle_ms: int, since_ms: int, during: bool, is_due: bool) -> None:
    policy = replace(POLICY, idle_ms=60_000, during_games=during)
    assert due(policy, games=games, idle_ms=idle_ms, since_challenge_ms=since_ms) is is_due


@pytest.mark.parametrize(
    ("variant", "clock", "perf"),
    [
        ("standard", TimeControl(60_000, 0), "bullet"),
        ("standard", TimeControl(180_000, 0), "blitz"),
        ("standard", TimeControl(180_000, 10_000), "rapid"),
        ("standard", TimeControl(1_500_000, 0), "classical"),
        ("standard", None, "correspondence"),
        ("chess960", TimeControl(60_000, 0), "chess960"),
    ],
)
def test_the_rating_that_counts(variant: str, clock: TimeControl | None, perf: str) -> None:
    assert perf_of(variant, clock) == perf
