"""Which challenges are accepted, and what the others are told."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.arena.challenges import DECLINE_REASONS
from bridge.decisions.challenge import (
    BOT_GAMES_A_DAY,
    DAY_MS,
    Accept,
    Answer,
    ChallengePolicy,
    Decline,
    Situation,
    Wait,
    answer,
    bot_games_today,
)
from bridge.decisions.challenge_queue import Waiting, in_order
from bridge.decisions.challenge_rules import SPEEDS, Offer, Rules
from bridge.rules.snapshot import TimeControl

SIX = TimeControl(360_000, 0)
OFFER = Offer("standard", False, SIX, from_bot=False, pool="anchor", speed="blitz", challenger="ann", rating=1500)
BOT = replace(OFFER, from_bot=True)
RATED = replace(OFFER, rated=True)
DAILY = replace(OFFER, time_control=None, pool=None, speed="correspondence", days=3)
BULLET = replace(OFFER, time_control=TimeControl(60_000, 0), speed="bullet")
POLICY = ChallengePolicy(concurrency=2)
NOW_MS = 10 * DAY_MS
FREE = Situation(0, NOW_MS)
FULL = replace(FREE, taken_slots=2)
TIRED = replace(FREE, bot_games_ms=[NOW_MS - DAY_MS + 1] * BOT_GAMES_A_DAY)

YES = Accept("anchor")
PLAIN = Accept(None)


def people(**terms: object) -> ChallengePolicy:
    return replace(POLICY, humans=Rules(**terms))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offer", "policy", "situation", "expected"),
    [
        (OFFER, POLICY, FREE, YES),
        (replace(OFFER, variant="chess960"), POLICY, FREE, YES),
        (replace(OFFER, variant="fromPosition"), POLICY, FREE, YES),
        (RATED, POLICY, FREE, Decline("casual")),
        (replace(OFFER, variant="atomic"), POLICY, FREE, Decline("variant")),
        (BOT, replace(POLICY, bots=None), FREE, Decline("noBot")),
        (OFFER, replace(POLICY, humans=None), FREE, Decline("onlyBot")),
        (replace(OFFER, time_control=None), POLICY, FREE, Decline("timeControl")),
        (replace(OFFER, pool=None), POLICY, FREE, Decline("timeControl")),
        (OFFER, POLICY, replace(FREE, taken_slots=1), YES),
        (OFFER, POLICY, FULL, Decline("later")),
        (OFFER, POLICY, replace(FREE, taken_slots=3), Decline("later")),
        (OFFER, POLICY, replace(FREE, draining=True), Decline("later")),
        (BOT, POLICY, TIRED, Decline("later")),
        (OFFER, POLICY, TIRED, YES),
        (BOT, POLICY, replace(TIRED, now_ms=NOW_MS + 1), YES),
        (BOT, POLICY, replace(FREE, no_bots_before_ms=NOW_MS + 1), Decline("later")),
        (OFFER, POLICY, replace(FREE, no_bots_before_ms=NOW_MS + 1), YES),
        (BOT, POLICY, replace(FREE, no_bots_before_ms=NOW_MS), YES),
    ],
)
def test_a_challenge_gets_its_answer(
    offer: Offer, policy: ChallengePolicy, situation: Situation, expected: Answer
) -> None:
    assert answer(offer, policy, situation) == expected


@pytest.mark.parametrize(
    ("offer", "terms", "expected"),
    [
        (replace(OFFER, variant="chess960"), {"variants": frozenset({"standard"})}, Decline("standard")),
        (replace(OFFER, variant="standard"), {"variants": frozenset({"chess960"})}, Decline("variant")),
        (OFFER, {"modes": frozenset({"rated"})}, Decline("rated")),
        (RATED, {"modes": frozenset({"rated", "casual"})}, PLAIN),
        (replace(RATED, pool=None), {"modes": frozenset({"rated"})}, PLAIN),
        (replace(RATED, ours=True), {"modes": frozenset({"rated"})}, Decline("casual")),
        (replace(OFFER, ours=True), {}, YES),
        (OFFER, {"time_controls": frozenset({"blitz"})}, YES),
        (OFFER, {"time_controls": frozenset({"rapid", SIX})}, YES),
        (OFFER, {"time_controls": frozenset({"rapid", TimeControl(360_000, 1000)})}, Decline("timeControl")),
        (OFFER, {"min_base": 360, "max_base": 360}, YES),
        (OFFER, {"min_base": 361}, Decline("tooFast")),
        (OFFER, {"max_base": 359}, Decline("tooSlow")),
        (OFFER, {"min_increment": 1}, Decline("tooFast")),
        (replace(OFFER, time_control=TimeControl(360_000, 2000)), {"max_increment": 1}, Decline("tooSlow")),
        (OFFER, {"max_estimated_game_duration": 12}, YES),
        (OFFER, {"max_estimated_game_duration": 11}, Decline("tooSlow")),
        (BULLET, {"bullet_requires_increment": True}, Decline("tooFast")),
        (replace(BULLET, time_control=TimeControl(60_000, 1000)), {"bullet_requires_increment": True}, YES),
        (OFFER, {"bullet_requires_increment": True}, YES),
        (DAILY, {}, Decline("timeControl")),
        (DAILY, {"time_controls": frozenset({"blitz"})}, Decline("timeControl")),
        (DAILY, {"time_controls": frozenset({"correspondence"})}, PLAIN),
        (DAILY, {"time_controls": frozenset({"correspondence"}), "min_days": 4}, Decline("tooFast")),
        (DAILY, {"time_controls": frozenset({"correspondence"}), "max_days": 2}, Decline("tooSlow")),
        (replace(DAILY, days=None), {"time_controls": frozenset({"correspondence"})}, PLAIN),
        (
            replace(DAILY, days=None),
            {"time_controls": frozenset({"correspondence"}), "max_days": 14},
            Decline("tooSlow"),
        ),
        (OFFER, {"min_rating": 1500, "max_rating": 1500}, YES),
        (OFFER, {"min_rating": 1501}, Decline("generic")),
        (OFFER, {"max_rating": 1499}, Decline("generic")),
        (replace(OFFER, rating=None), {"min_rating": 1501}, YES),
        (replace(OFFER, own_rating=1700), {"rating_difference": 200}, YES),
        (replace(OFFER, own_rating=1701), {"rating_difference": 200}, Decline("generic")),
        (replace(OFFER, own_rating=1299), {"rating_difference": 200}, Decline("generic")),
        (OFFER, {"rating_difference": 0}, YES),
        (replace(OFFER, rematches=1), {}, YES),
        (replace(OFFER, rematches=1), {"accept_rematch": False}, Decline("generic")),
        (replace(OFFER, rematches=2), {"max_rematches": 2}, YES),
        (replace(OFFER, rematches=3), {"max_rematches": 2}, Decline("later")),
    ],
)
def test_terms(offer: Offer, terms: dict[str, object], expected: Answer) -> None:
    assert answer(offer, people(**terms), FREE) == expected


def test_people_and_bots_have_terms_of_their_own() -> None:
    policy = replace(POLICY, humans=Rules(max_base=60), bots=Rules(min_base=600))
    assert answer(OFFER, policy, FREE) == Decline("tooSlow")
    assert answer(BOT, policy, FREE) == Decline("tooFast")


@pytest.mark.parametrize(
    ("policy", "situation", "expected"),
    [
        (replace(POLICY, block_list=frozenset({"ann"})), FREE, Decline("generic")),
        (replace(POLICY, block_list=frozenset({"bob"})), FREE, YES),
        (POLICY, replace(FREE, blocked=frozenset({"ann"})), Decline("generic")),
        (replace(POLICY, allow_list=frozenset({"ann"})), FREE, YES),
        (replace(POLICY, allow_list=frozenset({"bob"})), FREE, Decline("generic")),
        (replace(POLICY, online_allow_list=("https://x",)), FREE, Decline("generic")),
        (replace(POLICY, online_allow_list=("https://x",)), replace(FREE, allowed=frozenset({"ann"})), YES),
        (
            replace(POLICY, allow_list=frozenset({"ann"}), block_list=frozenset({"ann"})),
            FREE,
            Decline("generic"),
        ),
    ],
)
def test_lists(policy: ChallengePolicy, situation: Situation, expected: Answer) -> None:
    assert answer(OFFER, policy, situation) == expected


def test_an_opponent_has_so_many_games_and_challenges_at_once() -> None:
    policy = people(max_simultaneous_games_per_user=2)
    assert answer(OFFER, policy, replace(FREE, with_challenger=1)) == YES
    assert answer(OFFER, policy, replace(FREE, with_challenger=2)) == Decline("later")


def test_an_opponent_has_so_many_challenges_in_a_window() -> None:
    policy = people(max_recent_challenges=2, recent_challenge_age=60)
    recent = [NOW_MS - 59_999, NOW_MS - 1]
    assert answer(OFFER, policy, replace(FREE, accepted_ms=recent)) == Decline("later")
    assert answer(OFFER, policy, replace(FREE, accepted_ms=recent, now_ms=NOW_MS + 1)) == YES
    assert answer(BOT, policy, replace(FREE, accepted_ms=recent)) == YES


def test_bots_leave_slots_to_people() -> None:
    policy = replace(POLICY, games_reserved_for_humans=1)
    one_bot = replace(FREE, taken_slots=1, bot_slots=1)
    assert answer(BOT, policy, FREE) == YES
    assert answer(BOT, policy, one_bot) == Decline("later")
    assert answer(OFFER, policy, one_bot) == YES
    assert answer(BOT, policy, replace(FREE, taken_slots=1)) == YES


def test_when_every_slot_is_taken_a_challenge_waits_if_there_is_room() -> None:
    policy = replace(POLICY, max_queued=2)
    assert answer(OFFER, policy, FULL) == Wait()
    assert answer(OFFER, policy, replace(FULL, queued=1)) == Wait()
    assert answer(OFFER, policy, replace(FULL, queued=2)) == Decline("later")
    assert answer(RATED, policy, FULL) == Decline("casual")


def test_a_day_is_24_hours_back_from_now() -> None:
    assert bot_games_today(replace(FREE, bot_games_ms=[NOW_MS - DAY_MS, NOW_MS - DAY_MS + 1, NOW_MS])) == 2


# -- whatever comes ------------------------------------------------------------------------------------------------

small = st.none() | st.integers(0, 3)
rules = st.builds(
    Rules,
    variants=st.frozensets(st.sampled_from(["standard", "chess960"]), min_size=1),
    modes=st.frozensets(st.sampled_from(["casual", "rated"]), min_size=1),
    time_controls=st.none() | st.frozensets(st.sampled_from([*SPEEDS, SIX]), min_size=1),
    max_base=small,
    max_days=small,
    max_rating=small,
    max_rematches=small,
    max_simultaneous_games_per_user=small,
    max_recent_challenges=small,
    recent_challenge_age=small,
)
policies = st.builds(
    ChallengePolicy,
    humans=st.none() | rules,
    bots=st.none() | rules,
    concurrency=st.integers(1, 3),
    games_reserved_for_humans=st.integers(0, 3),
    block_list=st.frozensets(st.sampled_from("ab"), max_size=1),
    allow_list=st.frozensets(st.sampled_from("ab"), max_size=2),
    max_queued=st.integers(0, 2),
)
controls = st.none() | st.sampled_from([SIX, TimeControl(2000, 0), TimeControl(0, 1000)])
offers = st.builds(
    Offer,
    st.sampled_from(["standard", "chess960", "atomic"]),
    st.booleans(),
    controls,
    st.booleans(),
    st.sampled_from(["anchor", None]),
    speed=st.sampled_from(SPEEDS),
    days=small,
    challenger=st.sampled_from("ab"),
    rating=small,
    rematches=st.integers(0, 3),
    ours=st.booleans(),
)
situations = st.builds(
    Situation,
    st.integers(0, 4),
    st.just(NOW_MS),
    draining=st.booleans(),
    bot_slots=st.integers(0, 4),
    queued=st.integers(0, 3),
    with_challenger=st.integers(0, 3),
    accepted_ms=st.lists(st.integers(NOW_MS - 4000, NOW_MS), max_size=3),
)


@given(offers, policies, situations)
def test_what_is_accepted_may_be(offer: Offer, policy: ChallengePolicy, situation: Situation) -> None:
    decision = answer(offer, policy, situation)
    if isinstance(decision, Decline):
        assert decision.reason in DECLINE_REASONS
        return
    terms = policy.rules(bot=offer.from_bot)
    assert terms is not None
    assert offer.variant in terms.variants
    assert ("rated" if offer.rated else "casual") in terms.modes
    assert offer.challenger not in policy.block_list
    assert not situation.draining
    if isinstance(decision, Wait):
        assert situation.queued < policy.max_queued
        return
    assert situation.taken_slots < policy.concurrency
    # KiriChess acts in casual games with a clock alone.
    assert (decision.pool is not None) == (not offer.rated and offer.time_control is not None)
    assert not (offer.rated and offer.ours)


@given(offers, policies, situations)
def test_a_free_slot_only_turns_a_wait_into_a_yes(offer: Offer, policy: ChallengePolicy, situation: Situation) -> None:
    """Whoever waits has nothing else against it: it gets the slot that becomes free."""
    if isinstance(answer(offer, policy, situation), Wait) and policy.games_reserved_for_humans < policy.concurrency:
        assert isinstance(answer(offer, policy, replace(situation, taken_slots=0, bot_slots=0)), Accept)


@given(st.lists(offers, max_size=6), st.sampled_from(["best", "first"]), st.sampled_from(["none", "human", "bot"]))
def test_the_queue_has_one_order(given_offers: list[Offer], sort_by: str, preference: str) -> None:
    waiting = [Waiting(str(number), number, offer) for number, offer in enumerate(given_offers)]
    found = in_order(waiting, sort_by, preference)  # type: ignore[arg-type]
    assert sorted(found, key=lambda one: one.number) == waiting
    kinds = [one.offer.from_bot for one in found]
    if preference != "none":
        assert kinds == sorted(kinds, reverse=preference == "bot")
    elif sort_by == "first":
        assert found == waiting


def test_the_strongest_come_first_and_of_equals_the_earliest() -> None:
    weak, strong, equal = (
        Waiting(name, at, replace(OFFER, rating=r))
        for at, (name, r) in enumerate([("weak", 1500), ("strong", 2000), ("equal", 2000)])
    )
    titled = Waiting("titled", 3, replace(OFFER, rating=1950, titled=True))
    rated = Waiting("rated", 4, replace(RATED, rating=1500))
    order = [one.id for one in in_order([weak, strong, equal, titled, rated], "best", "none")]
    assert order == ["titled", "strong", "equal", "rated", "weak"]


FRIENDS = replace(
    POLICY,
    humans=Rules(min_rating=2000, max_base=60, modes=frozenset({"casual"}), max_simultaneous_games_per_user=0),
    block_list=frozenset({"ann"}),
    allow_list=frozenset({"bob"}),
    whitelist=frozenset({"ann"}),
)


@pytest.mark.parametrize(
    ("offer", "situation", "expected"),
    [
        (OFFER, FREE, YES),
        (RATED, FREE, PLAIN),
        (replace(RATED, pool=None), FREE, PLAIN),
        (OFFER, FULL, Decline("later")),
        (OFFER, replace(FREE, draining=True), Decline("later")),
        (BOT, TIRED, Decline("later")),
        (replace(OFFER, variant="atomic"), FREE, Decline("variant")),
        (replace(OFFER, pool=None), FREE, Decline("timeControl")),
        (DAILY, FREE, Decline("timeControl")),
        (replace(RATED, ours=True), FREE, Decline("casual")),
        (replace(OFFER, challenger="eve"), FREE, Decline("generic")),
    ],
)
def test_whoever_is_whitelisted_gets_every_game_that_can_be_played(
    offer: Offer, situation: Situation, expected: Answer
) -> None:
    assert answer(offer, FRIENDS, situation) == expected


@pytest.mark.parametrize("offer", [OFFER, replace(OFFER, from_bot=True)])
def test_whoever_is_whitelisted_is_let_in_where_nobody_else_of_the_kind_is(offer: Offer) -> None:
    policy = replace(FRIENDS, humans=None, bots=None)
    assert answer(offer, policy, FREE) == YES
    assert isinstance(answer(replace(offer, challenger="bob"), policy, FREE), Decline)
