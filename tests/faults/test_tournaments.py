"""A bot in arena tournaments: joined, played in as plain chess, left when draining, taken up again after a restart."""

from typing import Any

import aiohttp
import pytest

from bridge import event_types
from bridge.tournaments import TournamentPolicy

JOIN = "/api/tournament/abcdefgh/join"
IN_IT = {"join": ["abcdefgh"]}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.tournaments._LOOK_S", 0.05)
    monkeypatch.setattr("bridge.tournaments._JOIN_AGAIN_MS", 200)


@pytest.fixture
async def rival(table: Any) -> Any:
    """Human joins and is there, as somebody with the page open."""
    headers = {"Authorization": "Bearer tokenHuman"}
    url = f"{table.arena.url}/api"
    table.arena.hall.accounts.seen("human", table.arena.hall.now_ms() + 3_600_000)
    async with aiohttp.ClientSession(headers=headers) as session:

        async def join() -> None:
            async with session.post(f"{url}/tournament/abcdefgh/join") as answer:
                assert answer.status == 200

        yield join


@pytest.fixture(autouse=True)
def people_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Human has no stream of its own here."""
    from bridge.arena import routes_account, routes_tournament

    usual = routes_account.is_present
    monkeypatch.setattr(routes_tournament, "is_present", lambda hall, name: name == "human" or usual(hall, name))


def lobby(table: Any) -> Any:
    ((_, found),) = table.daemon._lobbies
    return found


async def test_it_joins_and_plays_plain_chess_in_its_one_slot(table: Any, rival: Any) -> None:
    tournament = table.arena.tournament("abcdefgh", 360)
    await table.run(tournaments=IN_IT, concurrency=1)
    await table.until(lambda: tournament.players.get("kiri"), what="it has joined")
    await table.until(lambda: lobby(table).slots.taken == 1)
    await rival()
    await table.until(lambda: lobby(table).games, what="a game")
    (game,) = table.arena.games.values()
    assert game.tournament_id == "abcdefgh" and game.rated
    await table.play(game, 6)
    assert lobby(table).slots.taken == 1
    assert table.said(game) == []
    await table.resign(game)
    (started,) = table.recorder.of(event_types.GAME_STARTED)
    assert started.data["rated"]
    # The next pairing.
    await table.until(lambda: len(table.arena.games) == 2)


async def test_without_a_pairing_it_says_again_that_it_is_there(table: Any) -> None:
    table.arena.tournament("abcdefgh")
    await table.run(tournaments=IN_IT)
    await table.until(lambda: len(table.asked(JOIN)) >= 3)


async def test_it_joins_none_that_keeps_bots_out_and_those_of_its_teams(table: Any) -> None:
    closed = table.arena.tournament("noRobots", bots_allowed=False)
    of_team = table.arena.tournament("teamOnes", team="kiri-friends")
    shown = table.arena.tournament("shownOne")
    early = table.arena.tournament("tomorrow", starts_at_ms=table.arena.hall.now_ms() + 86_400_000)
    await table.run(tournaments={"join": ["noRobots", "tomorrow"], "teams": ["kiri-friends"]})
    await table.until(lambda: of_team.players)
    assert not closed.players and not shown.players and not early.players
    assert not table.asked("noRobots/join")
    await table.kill()
    await table.run(tournaments={"listed": True})
    await table.until(lambda: shown.players)
    assert not early.players


async def test_one_that_starts_between_two_looks_is_joined_in_time(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.tournaments._LOOK_S", 600.0)
    soon = table.arena.tournament("abcdefgh", starts_at_ms=table.arena.hall.now_ms() + 6_000)
    await table.run(tournaments={**IN_IT, "early_s": 1})
    await table.until(lambda: soon.players, what="it has joined")


async def test_a_password_and_a_full_slot(table: Any) -> None:
    secret = table.arena.tournament("abcdefgh", password="open-sesame")
    other = table.arena.tournament("abcdefgi")
    entry = {"id": "abcdefgh", "password": "open-sesame"}
    await table.run(tournaments={"join": [entry, "abcdefgi"]}, concurrency=1)
    await table.until(lambda: secret.players)
    asked = "/api/tournament/abcdefgi"
    await table.until(lambda: sum(line.path == asked for line in table.requests) >= 3)
    assert not other.players
    secret.minutes = 0
    await table.until(lambda: other.players, what="the slot of the one that is over")


async def test_a_drain_leaves_it_and_finishes_its_game(table: Any, rival: Any) -> None:
    tournament = table.arena.tournament("abcdefgh", 360)
    await table.run(tournaments=IN_IT)
    await table.until(lambda: tournament.players.get("kiri"))
    await rival()
    await table.until(lambda: lobby(table).games)
    (game,) = table.arena.games.values()
    await table.play(game, 2)
    table.daemon.drain()
    await table.until(lambda: tournament.players["kiri"] is False, what="it has left")
    await table.play(game, 6)
    await table.resign(game)
    await table.until(lambda: table._work.done())


async def test_after_a_restart_its_game_goes_on_in_its_slot_and_it_is_joined_again(table: Any, rival: Any) -> None:
    tournament = table.arena.tournament("abcdefgh", 360)
    await table.run(tournaments=IN_IT, concurrency=1)
    await table.until(lambda: tournament.players.get("kiri"))
    await rival()
    await table.until(lambda: lobby(table).games)
    (game,) = table.arena.games.values()
    await table.play(game, 4)
    await table.kill()
    joined = len(table.asked(JOIN))
    await table.run(tournaments=IN_IT, concurrency=1)
    await table.play(game, 8)
    await table.until(lambda: lobby(table).slots.taken == 1)
    await table.resign(game)
    await table.until(lambda: len(table.arena.games) == 2 or len(table.asked(JOIN)) > joined)
    assert lobby(table).slots.taken == 1


async def test_one_that_the_settings_want_no_more_is_left(table: Any) -> None:
    named, of_team = table.arena.tournament("abcdefgh"), table.arena.tournament("teamOnes", team="kiri-friends")
    await table.run(tournaments={**IN_IT, "teams": ["kiri-friends"]}, concurrency=3)
    await table.until(lambda: named.players.get("kiri") and of_team.players.get("kiri"))
    (seeking,) = table.daemon._seeking
    seeking.tournaments.policy = TournamentPolicy(teams=("kiri-friends",))
    await table.until(lambda: named.players["kiri"] is False, what="it has left")
    assert of_team.players["kiri"]
    seeking.tournaments.policy = None
    await table.until(lambda: of_team.players["kiri"] is False and lobby(table).slots.taken == 0)
