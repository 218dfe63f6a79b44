"""What `play.challenge` means: keys of lichess-bot as there, and what differs for people and for bots."""

import pytest

from bridge.decisions.challenge import ChallengePolicy
from bridge.decisions.challenge_rules import Rules
from bridge.rules.snapshot import TimeControl
from bridge.settings.challenge import ChallengeSettings


def policy(**keys: object) -> ChallengePolicy:
    return ChallengeSettings.model_validate(keys).policy(3)


def test_left_out_everything_is_as_usual() -> None:
    assert policy() == ChallengePolicy(concurrency=3)


def test_a_key_counts_for_both_unless_one_of_them_has_its_own() -> None:
    found = policy(max_base=600, min_rating=1000, bots={"max_base": 300, "modes": ["rated"]})
    assert found.humans == Rules(max_base=600, min_rating=1000)
    assert found.bots == Rules(max_base=300, min_rating=1000, modes=frozenset({"rated"}))


def test_an_increment_for_bullet_is_asked_of_bots_alone_as_in_lichess_bot() -> None:
    found = policy(bullet_requires_increment=True)
    assert found.humans == Rules()
    assert found.bots == Rules(bullet_requires_increment=True)
    people = policy(humans={"bullet_requires_increment": True}).humans
    assert people == Rules(bullet_requires_increment=True)


def test_the_window_of_lichess_bot_is_for_bots() -> None:
    found = policy(recent_bot_challenge_age=60, max_recent_bot_challenges=2)
    assert found.humans == Rules()
    assert found.bots == Rules(recent_challenge_age=60, max_recent_challenges=2)


def test_speeds_and_clocks_stand_in_one_list() -> None:
    found = policy(time_controls=["blitz", "½+1"]).humans
    assert found is not None
    assert found.time_controls == frozenset({"blitz", TimeControl(30_000, 1000)})


def test_names_are_compared_without_their_case() -> None:
    assert policy(block_list=["Ann"], allow_list=["BOB"]).block_list == {"ann"}


def test_nobody_of_a_kind() -> None:
    assert policy(accept_bot=False).bots is None
    assert policy(only_bot=True).humans is None


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"min_base": 2, "max_base": 1}, "min_base is above max_base"),
        ({"humans": {"min_rating": 2, "max_rating": 1}}, "min_rating is above max_rating"),
        ({"recent_bot_challenge_age": 60}, "give both or neither"),
        ({"bots": {"max_recent_challenges": 2}}, "give both or neither"),
        ({"only_bot": True, "accept_bot": False}, "nobody could be accepted"),
        ({"time_controls": ["fast"]}, "must be a speed"),
        ({"modes": []}, "at least 1 item"),
        ({"variants": ["atomic"]}, "variants"),
        ({"sort_by": "worst"}, "sort_by"),
        ({"humans": {"accept_bot": True}}, "accept_bot"),
    ],
)
def test_what_cannot_be_is_refused(keys: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        policy(**keys)
