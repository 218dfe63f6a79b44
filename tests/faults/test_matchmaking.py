"""A bot that challenges others: what becomes of its offers, and that no slot is lost over any of them."""

from itertools import pairwise
from typing import Any

import pytest

from bridge import event_types, history
from bridge.errors import JournalError


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.matchmaking._LOOK_S", 0.02)
    monkeypatch.setattr("bridge.matchmaking._LEASE_S", 0.6)
    monkeypatch.setattr("bridge.decisions.matchmaking.BETWEEN_MS", 50)
    monkeypatch.setattr("bridge.decisions.matchmaking.DURING_GAMES_MS", 50)


@pytest.fixture
def seeks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings of a bot that seeks at once: the shortest wait it can be set to is a minute."""
    from bridge.settings.matchmaking import MatchmakingSettings

    usual = MatchmakingSettings.policy

    def at_once(self: Any, *args: Any) -> Any:
        from dataclasses import replace

        return replace(usual(self, *args), idle_ms=100, back_off_ms=200)

    monkeypatch.setattr(MatchmakingSettings, "policy", at_once)

    def settings(**more: Any) -> dict[str, Any]:
        return {"allow_matchmaking": True, "challenge_initial_time": 540, "opponent_min_rating": 0, **more}

    return settings


@pytest.fixture
def table(table: Any) -> Any:
    """Robot can be challenged, whoever reads its stream."""
    return with_robot(table)


def with_robot(table: Any) -> Any:
    hall = table.arena.hall
    hall.accounts.seen("robot", hall.now_ms() + 3_600_000)
    return table


async def test_a_journal_that_cannot_be_read_for_a_moment_ends_no_search(
    table: Any, seeks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.matchmaking._RECALL_S", 0.1)
    recall, tries = history.challenges_answered, []

    async def fails_once(*given: Any) -> Any:
        tries.append(given)
        if len(tries) == 1:
            raise JournalError("the disk is ill")
        return await recall(*given)

    monkeypatch.setattr(history, "challenges_answered", fails_once)
    await table.run(matchmaking=seeks())
    await table.until(lambda: offers(table), what="it challenges")
    assert len(tries) == 2


def offers(table: Any) -> list[Any]:
    return [asked for asked in table.arena.desk.challenges.values() if asked.challenger.name == "Kiri"]


def lobby(table: Any) -> Any:
    ((_, found),) = table.daemon._lobbies
    return found


def answers(table: Any) -> list[dict[str, Any]]:
    return [dict(entry.data) for entry in table.recorder.of(event_types.CHALLENGE_ANSWERED)]


async def test_an_offer_becomes_a_game_and_is_remembered(table: Any, seeks: Any) -> None:
    await table.run(matchmaking=seeks(pairs=True))
    await table.until(lambda: offers(table), what="an offer")
    (offer,) = offers(table)
    assert (offer.dest.name, offer.rated, offer.control.limit_s, offer.color) == ("Robot", False, 540, "white")
    table.arena.desk.accept(offer.dest, offer.id)
    await table.until(lambda: answers(table))
    assert answers(table)[0] | {"outcome": "accepted", "opponent": "robot", "color": "white"} == answers(table)[0]
    await table.until(lambda: lobby(table).games == (offer.id,))
    assert lobby(table).slots.reserved == {}
    game = table.arena.games[offer.id]
    await table.until(lambda: game.plies == 1, what="our first move")
    assert len(offers(table)) == 1, "nothing is offered while a game runs"
    table.arena.hall.happen(game, _resigned(table, game, "robot"))
    # The other half of the pair.
    await table.until(lambda: len(offers(table)) == 2)
    assert offers(table)[1].color == "black"


def _resigned(table: Any, game: Any, name: str) -> Any:
    from bridge.arena import referee

    return referee.resign(game, game.color_of(name), table.arena.hall.game_now_ms(game))


async def test_a_decline_frees_the_slot_and_is_known_after_a_restart(table: Any, seeks: Any) -> None:
    await table.run(matchmaking=seeks(challenge_filter="coarse"), concurrency=1)
    await table.until(lambda: offers(table), what="an offer")
    (offer,) = offers(table)
    await table.until(lambda: lobby(table).slots.taken == 1)
    table.arena.desk.decline(offer.dest, offer.id, "later")
    await table.until(lambda: answers(table))
    assert (answers(table)[0]["outcome"], answers(table)[0]["reason"]) == ("declined", "later")
    await table.until(lambda: lobby(table).slots.taken == 0)
    await table.kill()
    before = len(table.requests)
    await table.run(matchmaking=seeks(challenge_filter="coarse"), concurrency=1)
    looked = "/api/bot/online"
    await table.until(lambda: sum(line.path == looked for line in table.requests[before:]) >= 3)
    assert len(offers(table)) == 1


async def test_an_offer_without_an_answer_is_taken_back_and_its_slot_is_free(table: Any, seeks: Any) -> None:
    await table.run(matchmaking=seeks(), concurrency=1)
    await table.until(lambda: answers(table), what="the end of the offer")
    assert answers(table)[0]["outcome"] == "lapsed"
    assert offers(table)[0].status.value == "canceled"
    assert table.asked("/cancel")
    await table.until(lambda: lobby(table).slots.taken == 0)
    table.arena.desk.create(table.arena.account("Human"), table.arena.account("Kiri"), _wish())
    await table.until(lambda: lobby(table).games, what="the slot is used by somebody else")


def _wish() -> Any:
    from bridge.arena.challenges import Wish
    from bridge.arena.hall import control_of

    return Wish(control_of(540), "standard", None, False, "white", frozenset())


@pytest.mark.parametrize("gone", ["silent", "in an outage"])
async def test_an_offer_that_is_accepted_while_our_stream_is_gone_stays_a_game(
    table: Any, seeks: Any, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.matchmaking._LEASE_S", 1.5)
    await table.run(matchmaking=seeks(), concurrency=1)
    await table.until(lambda: offers(table), what="an offer")
    (offer,) = offers(table)
    if gone == "silent":
        # Keep-alives come, and no line of the game.
        table.arena.hall.audience.events.pop("kiri")
    else:
        table.faults.next("event_stream", status=503, times=25)
        table.faults.drop("event")
    table.arena.desk.accept(offer.dest, offer.id)
    await table.until(lambda: answers(table))
    assert answers(table)[0]["outcome"] == "accepted"
    if gone == "silent":
        await table.lose_events("end")
    await table.until(lambda: lobby(table).games == (offer.id,))
    assert not table.arena.games[offer.id].over
    assert len(offers(table)) == 1


async def test_an_offer_whose_making_has_no_answer_keeps_its_slot_while_it_could_stand(table: Any, seeks: Any) -> None:
    table.faults.next("challenge", status=0, after=True)
    await table.run(matchmaking=seeks(), concurrency=1)
    await table.until(lambda: offers(table), what="an offer that nobody told us of")
    assert lobby(table).slots.taken == 1
    table.arena.desk.accept(offers(table)[0].dest, offers(table)[0].id)
    await table.until(lambda: lobby(table).games == (offers(table)[0].id,))
    await table.until(lambda: answers(table))
    assert answers(table)[0]["outcome"] == "accepted"
    await table.until(lambda: lobby(table).slots.taken == 1)


async def test_their_daily_limit_spares_them_alone(open_table: Any, seeks: Any) -> None:
    async with open_table(bot_games_per_day=1) as table:
        with_robot(table).arena.hall.bot_games.count("robot", table.arena.hall.now_ms())
        await table.run(matchmaking=seeks())
        await table.until(lambda: answers(table))
        assert answers(table)[0]["outcome"] == "limit"
        assert answers(table)[0]["wait_ms"] > 80_000_000
        assert lobby(table).doorkeeper.no_bots_before_ms == 0


async def test_our_daily_limit_ends_the_offers(open_table: Any, seeks: Any) -> None:
    async with open_table(bot_games_per_day=1) as table:
        with_robot(table).arena.hall.bot_games.count("kiri", table.arena.hall.now_ms())
        await table.run(matchmaking=seeks())
        await table.until(lambda: table.daemon._lobbies and lobby(table).doorkeeper.no_bots_before_ms > 0)
        assert answers(table) == []
        assert lobby(table).slots.taken == 0


async def test_a_429_pauses_the_offers_longer_and_longer(
    table: Any, seeks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.matchmaking._PAUSES_S", (0.4, 1.6))
    table.faults.next("challenge", status=429, body="<html>Too many</html>", times=3)
    await table.run(matchmaking=seeks())
    asked: list[int] = []

    def told() -> bool:
        asked[:] = [line.at_ms for line in table.requests if line.path == "/api/challenge/robot"][:4]
        return len(asked) == 4

    await table.until(told, what="an offer after three refusals")
    waits = [later - earlier for earlier, later in pairwise(asked)]
    assert [wait >= least for wait, least in zip(waits, (400, 800, 1600), strict=True)] == [True] * 3
    assert answers(table) == []


async def test_a_drain_takes_back_what_stands(table: Any, seeks: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.matchmaking._LEASE_S", 60.0)
    await table.run(matchmaking=seeks())
    await table.until(lambda: offers(table), what="an offer")
    await table.until(lambda: table.recorder.of(event_types.CHALLENGE_SENT))
    table.daemon.drain()
    await table.until(lambda: table._work.done(), what="the daemon has ended")
    assert offers(table)[0].status.value == "canceled"


async def test_it_is_off_by_default_and_never_offers_to_people(table: Any, seeks: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 2)
    assert not any(line.path == "/api/bot/online" for line in table.requests)
    await table.kill()


async def test_an_offer_is_taken_back_when_the_settings_say(
    table: Any, seeks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bridge.matchmaking._LEASE_S", 600.0)
    await table.run(matchmaking=seeks(timeout=1), concurrency=1)
    await table.until(lambda: answers(table))
    assert answers(table)[0]["outcome"] == "lapsed"
