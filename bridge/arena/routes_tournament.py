"""Arena tournaments: lists, one of them, joining and leaving (Lichess API §1.7); and who is paired when."""

import asyncio

from bridge.arena.hall import Hall
from bridge.arena.happenings import Rejected
from bridge.arena.http import Call, Reply, Route, json_reply, ndjson_reply, ok
from bridge.arena.routes_account import is_present
from bridge.arena.tournament import Stage, Tournament

_SCOPES = frozenset({"tournament:write", "bot:play"})
_LISTS = ((Stage.CREATED, "created"), (Stage.STARTED, "started"), (Stage.FINISHED, "finished"))


async def keep_pairing(hall: Hall, tournament: Tournament) -> None:
    """Pair whoever waits, until the tournament is over."""
    while (now_ms := hall.now_ms()) < tournament.ends_at_ms:
        busy = {seat.id for game in hall.running() for seat in (game.white, game.black)}
        there = {player for player in tournament.players if player not in busy and is_present(hall, player)}
        for white, black in tournament.pairs(there, now_ms):
            hall.pair(
                hall.accounts.of_name(white),
                hall.accounts.of_name(black),
                tournament.control,
                variant=tournament.variant,
                rated=tournament.rated,
                source="arena",
                tournament_id=tournament.id,
            )
        await asyncio.sleep(hall.settings.tournament_pairing_s)


def _tournament(call: Call) -> Tournament:
    found = call.hall.tournaments.get(call.part("id"))
    if found is None:
        raise Rejected("Not found", status=404)
    return found


async def lists(call: Call) -> Reply:
    now_ms, every = call.hall.now_ms(), call.hall.tournaments.values()
    return json_reply(
        {name: [each.listed(now_ms) for each in every if each.stage(now_ms) is stage] for stage, name in _LISTS}
    )


async def of_team(call: Call) -> Reply:
    now_ms = call.hall.now_ms()
    every = call.hall.tournaments.values()
    return ndjson_reply([each.listed(now_ms) for each in every if each.team == call.part("team")])


async def show(call: Call) -> Reply:
    return json_reply(_tournament(call).page(call.hall.now_ms()))


async def join(call: Call) -> Reply:
    _tournament(call).join(call.me, call.form.get("password", ""), call.hall.now_ms())
    return ok()


async def withdraw(call: Call) -> Reply:
    _tournament(call).withdraw(call.me, call.hall.now_ms())
    return ok()


ROUTES = (
    Route("GET", "/api/tournament", "tournaments", lists),
    Route("GET", "/api/team/{team}/arena", "team_arenas", of_team),
    Route("GET", "/api/tournament/{id}", "tournament", show),
    Route("POST", "/api/tournament/{id}/join", "join", join, _SCOPES),
    Route("POST", "/api/tournament/{id}/withdraw", "withdraw", withdraw, _SCOPES),
)
