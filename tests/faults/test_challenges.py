"""The door of an account: who gets in, who waits, who is sent away and with which reason."""

import asyncio
from typing import Any

import pytest

from bridge import event_types
from bridge.arena import referee
from bridge.arena.challenges import Wish
from bridge.arena.control import Correspondence
from bridge.arena.hall import control_of
from bridge.daemon import Daemon
from bridge.settings.models import Settings

BULLET = Wish(control_of(60), "standard", None, False, "white", frozenset())


def wish(limit_s: int = 540, *, rated: bool = False, days: int | None = None) -> Wish:
    control = control_of(limit_s) if days is None else Correspondence(days)
    return Wish(control, "standard", None, rated, "white", frozenset())


def challenge(table: Any, challenger: str = "Human", asked: Wish | None = None, rematch_of: str = "") -> Any:
    arena = table.arena
    return arena.desk.create(arena.account(challenger), arena.account("Kiri"), asked or wish(), rematch_of=rematch_of)


def lobby(table: Any) -> Any:
    (found,) = [lobby for _, lobby in table.daemon._lobbies]
    return found


async def accepted(table: Any, asked: Any) -> Any:
    await table.until(lambda: asked.id in table.arena.games, what="the challenge is accepted")
    return table.arena.games[asked.id]


async def declined(table: Any, asked: Any) -> str:
    await table.until(lambda: asked.status.value == "declined", what="the challenge is declined")
    return str(asked.decline_reason)


async def queued(table: Any, number: int) -> None:
    await table.until(lambda: lobby(table).doorkeeper.queued == number, what=f"{number} wait")


async def end(table: Any, game: Any) -> None:
    hall = table.arena.hall
    hall.happen(game, referee.abort(game, hall.game_now_ms(game)))
    await table.final(game)


# -- waiting -------------------------------------------------------------------------------------------------------


async def test_who_waits_gets_the_slot_that_becomes_free(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2, "sort_by": "first"})
    first = await accepted(table, challenge(table))
    second = challenge(table, "Visitor")
    await queued(table, 1)
    third = challenge(table, "Robot")
    await queued(table, 2)
    assert await declined(table, challenge(table)) == "later"
    await end(table, first)
    await end(table, await accepted(table, second))
    await accepted(table, third)
    assert lobby(table).doorkeeper.queued == 0


@pytest.mark.parametrize(("preference", "next_up"), [("human", "Visitor"), ("bot", "Robot")])
async def test_people_or_bots_come_first(table: Any, preference: str, next_up: str) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2, "preference": preference})
    first = await accepted(table, challenge(table))
    waiting = {name: challenge(table, name) for name in ("Robot", "Visitor")}
    await queued(table, 2)
    await end(table, first)
    await accepted(table, waiting.pop(next_up))
    (other,) = waiting.values()
    assert other.id not in table.arena.games


async def test_who_withdraws_does_not_wait(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2, "sort_by": "first"})
    first = await accepted(table, challenge(table))
    gone, stays = challenge(table, "Visitor"), challenge(table, "Robot")
    await queued(table, 2)
    table.arena.desk.cancel(table.arena.account("Visitor"), gone.id)
    await queued(table, 1)
    await end(table, first)
    await accepted(table, stays)
    assert not table.asked(f"{gone.id}/accept")


async def test_who_waits_is_answered_in_the_end(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2, "queue_s": 1})
    await accepted(table, challenge(table))
    assert await declined(table, challenge(table, "Visitor")) == "later"
    assert lobby(table).doorkeeper.queued == 0


async def test_who_waits_is_told_when_no_more_is_accepted(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2})
    game = await accepted(table, challenge(table))
    waiting = challenge(table, "Visitor")
    await queued(table, 1)
    table.daemon.drain()
    assert await declined(table, waiting) == "later"
    await end(table, game)


async def test_a_slot_whose_acceptance_is_refused_goes_to_the_next(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 1})
    table.faults.next("accept", status=404, body={"error": "Challenge not found"}, delay_s=0.3)
    challenge(table)
    waiting = challenge(table, "Visitor")
    await queued(table, 1)
    await accepted(table, waiting)


# -- who gets in ---------------------------------------------------------------------------------------------------


async def test_an_opponent_does_not_get_more_games_than_it_may_have(table: Any) -> None:
    """What is accepted counts before its game begins, and what runs still counts after a restart."""
    await table.run(challenge={"max_simultaneous_games_per_user": 2})
    table.faults.next("accept", status=200, after=True, times=2, delay_s=0.3, body={"ok": True})
    asked = [challenge(table) for _ in range(3)]
    assert await declined(table, asked[2]) == "later"
    games = [await accepted(table, one) for one in asked[:2]]
    await accepted(table, challenge(table, "Visitor"))
    await table.until(lambda: len(table.recorder.of(event_types.GAME_STARTED)) == 3)
    await table.kill()
    await table.run(challenge={"max_simultaneous_games_per_user": 2})
    await table.until(lambda: lobby(table).slots.with_opponent("human") == 2)
    assert await declined(table, challenge(table)) == "later"
    await end(table, games[0])
    await accepted(table, challenge(table))


async def test_bots_leave_slots_to_people(table: Any) -> None:
    await table.run(concurrency=2, challenge={"games_reserved_for_humans": 1})
    await accepted(table, challenge(table, "Robot"))
    assert await declined(table, challenge(table, "Robot")) == "later"
    await accepted(table, challenge(table))


async def test_terms_differ_for_people_and_for_bots(table: Any) -> None:
    bots = {"max_base": 300, "time_controls": ["blitz", "bullet"], "max_recent_challenges": 1}
    await table.run(challenge={"min_base": 120, "bots": {**bots, "recent_challenge_age": 3600}})
    assert await declined(table, challenge(table, "Human", BULLET)) == "tooFast"
    assert await declined(table, challenge(table, "Robot", wish(360))) == "tooSlow"
    assert await declined(table, challenge(table, "Robot", wish(900))) == "timeControl"
    await end(table, await accepted(table, challenge(table, "Robot", wish(240))))
    assert await declined(table, challenge(table, "Robot", wish(240))) == "later"
    await accepted(table, challenge(table, "Human", wish(900)))


async def test_a_window_goes_on_over_a_restart(table: Any) -> None:
    terms = {"humans": {"max_recent_challenges": 1, "recent_challenge_age": 3600}}
    await table.run(challenge=terms)
    await end(table, await accepted(table, challenge(table)))
    await table.kill()
    await table.run(challenge=terms)
    assert await declined(table, challenge(table)) == "later"
    await accepted(table, challenge(table, "Visitor"))


async def test_names_on_a_list(table: Any) -> None:
    await table.run(challenge={"block_list": ["HUMAN"]})
    assert await declined(table, challenge(table)) == "generic"
    await accepted(table, challenge(table, "Visitor"))


async def test_another_policy_counts_from_the_next_challenge_on(table: Any) -> None:
    await table.run(concurrency=1, challenge={"max_queued": 2})
    game = await accepted(table, challenge(table))
    await queued(table, 0)
    waiting = [challenge(table, "Robot"), challenge(table, "Visitor")]
    await queued(table, 2)
    play = Settings.model_validate({"accounts": [{"platform": "lichess", "play": {"engine": "x"}}]}).accounts[0].play
    assert play is not None
    policy = play.challenge.model_copy(update={"accept_bot": False}).policy(concurrency=2)
    lobby(table).set_policy(policy)
    assert await declined(table, waiting[0]) == "noBot"
    await accepted(table, waiting[1])
    assert not game.over


# -- rematches, rated games, correspondence ------------------------------------------------------------------------


async def test_so_many_rematches_in_a_row(table: Any) -> None:
    await table.run(challenge={"max_rematches": 2})
    game = await accepted(table, challenge(table))
    for _ in range(2):
        await end(table, game)
        game = await accepted(table, challenge(table, rematch_of=game.id))
    await end(table, game)
    assert await declined(table, challenge(table, rematch_of=game.id)) == "later"
    await table.kill()
    await table.run(challenge={"max_rematches": 2})
    assert await declined(table, challenge(table, rematch_of=game.id)) == "later"
    await accepted(table, challenge(table))


async def test_no_rematches(table: Any) -> None:
    await table.run(challenge={"accept_rematch": False})
    assert await declined(table, challenge(table, rematch_of="abcdefgh")) == "generic"


@pytest.mark.parametrize("asked", [wish(480, rated=True), wish(days=3)], ids=["rated", "days"])
async def test_what_is_no_kirichess_is_played_as_plain_chess(table: Any, asked: Wish) -> None:
    await table.run(
        greeting=True, challenge={"modes": ["casual", "rated"], "time_controls": ["rapid", "blitz", "correspondence"]}
    )
    game = await accepted(table, challenge(table, asked=asked))
    await table.play(game, 4)
    assert table.said(game) == []
    (entry,) = table.recorder.of(event_types.CHALLENGE_ACCEPTED)
    assert "pool" not in entry.data


async def test_correspondence_is_declined_unless_it_is_named(table: Any) -> None:
    await table.run()
    assert await declined(table, challenge(table, asked=wish(days=3))) == "timeControl"


async def test_accounts_of_one_configuration_play_each_other_casual_games_alone(table: Any) -> None:
    play = table.settings(challenge={"modes": ["casual", "rated"]})
    accounts = [
        {"platform": "lichess", "url": table.arena.url, "token": token, "play": play}
        for token in ("tokenKiri", "tokenRobot")
    ]
    engines = {"fake": {"kind": "random"}}
    journal = {"url": f"sqlite:///{table.journal}"}
    settings = Settings.model_validate({"accounts": accounts, "engines": engines, "journal": journal})
    daemon = Daemon(settings, timings=table.QUICK)
    work = asyncio.create_task(daemon.run())
    try:
        await table.until(lambda: len([s for s in table.arena.hall.audience.open if s.name.kind == "event"]) == 2)
        assert await declined(table, challenge(table, "Robot", wish(rated=True))) == "casual"
        await accepted(table, challenge(table, "Robot"))
        await accepted(table, challenge(table, "Human", wish(rated=True)))
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
