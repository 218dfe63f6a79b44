"""Which challenges are accepted, and what the others are told."""

from dataclasses import replace

import pytest

from bridge.decisions.challenge import (
    BOT_GAMES_A_DAY,
    DAY_MS,
    Accept,
    Answer,
    ChallengePolicy,
    Decline,
    Offer,
    Situation,
    answer,
    bot_games_today,
)
from bridge.rules.snapshot import TimeControl

OFFER = Offer("standard", False, TimeControl(360_000, 0), from_bot=False, pool="anchor")
BOT = replace(OFFER, from_bot=True)
POLICY = ChallengePolicy(concurrency=2)
NOW_MS = 10 * DAY_MS
FREE = Situation(0, NOW_MS)
TIRED = replace(FREE, bot_games_ms=[NOW_MS - DAY_MS + 1] * BOT_GAMES_A_DAY)


@pytest.mark.parametrize(
    ("offer", "policy", "situation", "expected"),
    [
        (OFFER, POLICY, FREE, Accept("anchor")),
        (replace(OFFER, variant="chess960"), POLICY, FREE, Accept("anchor")),
        (replace(OFFER, variant="fromPosition"), POLICY, FREE, Accept("anchor")),
        (replace(OFFER, rated=True), POLICY, FREE, Decline("casual")),
        (replace(OFFER, variant="atomic"), POLICY, FREE, Decline("variant")),
        (
            replace(OFFER, variant="chess960"),
            replace(POLICY, variants=frozenset({"standard"})),
            FREE,
            Decline("standard"),
        ),
        (BOT, replace(POLICY, accept_bots=False), FREE, Decline("noBot")),
        (OFFER, replace(POLICY, accept_humans=False), FREE, Decline("onlyBot")),
        (replace(OFFER, time_control=None), POLICY, FREE, Decline("timeControl")),
        (replace(OFFER, pool=None), POLICY, FREE, Decline("timeControl")),
        (OFFER, POLICY, replace(FREE, taken_slots=1), Accept("anchor")),
        (OFFER, POLICY, replace(FREE, taken_slots=2), Decline("later")),
        (OFFER, POLICY, replace(FREE, taken_slots=3), Decline("later")),
        (OFFER, POLICY, replace(FREE, draining=True), Decline("later")),
        (BOT, POLICY, TIRED, Decline("later")),
        (OFFER, POLICY, TIRED, Accept("anchor")),
        (BOT, POLICY, replace(TIRED, now_ms=NOW_MS + 1), Accept("anchor")),
        (BOT, POLICY, replace(FREE, no_bots_before_ms=NOW_MS + 1), Decline("later")),
        (OFFER, POLICY, replace(FREE, no_bots_before_ms=NOW_MS + 1), Accept("anchor")),
        (BOT, POLICY, replace(FREE, no_bots_before_ms=NOW_MS), Accept("anchor")),
    ],
)
def test_a_challenge_gets_its_answer(
    offer: Offer, policy: ChallengePolicy, situation: Situation, expected: Answer
) -> None:
    assert answer(offer, policy, situation) == expected


def test_a_day_is_24_hours_back_from_now() -> None:
    assert bot_games_today(replace(FREE, bot_games_ms=[NOW_MS - DAY_MS, NOW_MS - DAY_MS + 1, NOW_MS])) == 2
