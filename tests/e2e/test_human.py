"""A bot against a client that plays as a person does, on the board API, and never reads our chat."""

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import chess
import pytest

from bridge import event_types
from bridge.arena import Arena


class Person:
    """Challenges a bot and moves at random; looks at nothing but the moves."""

    def __init__(self, session: aiohttp.ClientSession, url: str, seed: int) -> None:
        self._session = session
        self._url = url
        self._random = random.Random(seed)

    async def challenge(self, bot: str, limit_s: int, **form: str) -> str:
        data = {"clock.limit": str(limit_s), "clock.increment": "0", "color": "white", **form}
        async with self._session.post(f"{self._url}/api/challenge/{bot}", data=data) as response:
            body = await response.json()
        assert response.status == 200, body
        return str(body["id"])

    async def lines(self, path: str) -> AsyncIterator[dict[str, Any]]:
        async with self._session.get(f"{self._url}{path}") as response:
            async for line in response.content:
                if line.strip():
                    yield json.loads(line)

    async def play(self, game_id: str, most_plies: int = 1000) -> str:
        """Play to the end; returns the last status. After `most_plies` it only waits."""
        async for line in self.lines(f"/api/board/game/stream/{game_id}"):
            state = line.get("state", line)
            if state.get("type") not in ("gameFull", "gameState") and "moves" not in state:
                continue
            if state["status"] != "started":
                return str(state["status"])
            moves = state["moves"].split()
            board = chess.Board()
            for uci in moves:
                board.push_uci(uci)
            if board.turn == chess.WHITE and len(moves) < most_plies and any(board.legal_moves):
                uci = self._random.choice(list(board.legal_moves)).uci()
                async with self._session.post(f"{self._url}/api/board/game/{game_id}/move/{uci}"):
                    pass
        return "?"

    async def post(self, path: str, **form: str) -> None:
        async with self._session.post(f"{self._url}{path}", data=form) as response:
            assert response.status == 200, await response.text()

    async def say(self, game_id: str, text: str) -> None:
        await self.post(f"/api/board/game/{game_id}/chat", room="player", text=text)

    async def resign(self, game_id: str) -> None:
        await self.post(f"/api/board/game/{game_id}/resign")

    async def ask_takeback(self, game_id: str) -> None:
        await self.post(f"/api/board/game/{game_id}/takeback/yes")


@pytest.fixture
async def person(arena: Arena) -> AsyncIterator[Person]:
    timeout = aiohttp.ClientTimeout(total=None)
    headers = {"Authorization": "Bearer tokenHuman"}
    async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
        yield Person(session, arena.url, seed=7)


def config(bot: Any, **play: object) -> dict[str, object]:
    return {
        "accounts": [bot("Kiri", "kiri", **play)],
        "engines": {"kiri": {"kind": "kiri"}},
        "journal": {"url": "sqlite://"},
    }


async def test_a_person_is_played_to_a_kirichess_ending(
    arena: Arena, person: Person, run_bridge: Any, run_command: Any, bot: Any
) -> None:
    async with run_bridge(config(bot, pool={"by_time_control": {"1+0": "winder"}})) as bridge:
        game_id = await person.challenge("Kiri", 60)
        await arena_plays(arena, game_id)
        await person.play(game_id)
        live = await bridge.recorder.final()
    assert live["id"] == game_id
    assert live["pool"] == "winder"
    status, out, _ = await run_command("adjudicate", f"{arena.url}/{game_id}", "--pool", "winder", "--format", "jsonl")
    again = json.loads(out)
    assert status == 0
    assert (again["result"], again["reason"], again["flag"]) == (live["result"], live["reason"], live["flag"])


async def test_the_greeting_is_said_once_and_within_the_limits(
    arena: Arena, person: Person, run_bridge: Any, bot: Any
) -> None:
    async with run_bridge(config(bot, pool="winder")) as bridge:
        game_id = await person.challenge("Kiri", 60)
        await arena_plays(arena, game_id)
        await person.play(game_id)
        await bridge.recorder.final()
        await asyncio.sleep(0.1)
        said = bridge.recorder.of(event_types.CHAT_SENT)
    lines = [str(entry.data["text"]) for entry in said]
    assert lines[0].startswith("KiriChess, pool Winder")
    assert len(lines) <= 12
    assert all(len(line) <= 140 and "http" not in line for line in lines)
    assert all(a != b for a, b in itertools.pairwise(lines))
    times = [entry.time_ms for entry in said]
    assert all(later - earlier >= 1900 for earlier, later in itertools.pairwise(times))


@pytest.mark.parametrize(
    ("form", "limit_s", "reason"),
    [({"rated": "true"}, 60, "casual"), ({}, 120, "timecontrol")],
)
async def test_what_cannot_be_refereed_is_declined(
    form: dict[str, str], limit_s: int, reason: str, arena: Arena, person: Person, run_bridge: Any, bot: Any
) -> None:
    settings = config(bot, pool={"by_time_control": {"1+0": "winder"}})
    async with run_bridge(settings) as bridge:
        await person.challenge("Kiri", limit_s, **form)
        async with asyncio.timeout(30):
            while not bridge.recorder.of(event_types.CHALLENGE_DECLINED):
                await asyncio.sleep(0.02)
        (declined,) = bridge.recorder.of(event_types.CHALLENGE_DECLINED)
    assert str(declined.data["reason"]).lower() == reason
    assert not arena.games


async def test_an_opponent_who_never_moves_is_aborted(arena: Arena, person: Person, run_bridge: Any, bot: Any) -> None:
    async with run_bridge(config(bot, pool="winder", abort_time=1)) as bridge:
        game_id = await person.challenge("Kiri", 60)
        await arena_plays(arena, game_id)
        live = await bridge.recorder.final(10)
    assert (live["reason"], live["result"]) == ("aborted", "*")


async def test_the_opponent_chooses_the_pool_before_move_two_and_a_restart_knows_it(
    arena: Arena, person: Person, run_bridge: Any, bot: Any, run_command: Any, tmp_path: Path
) -> None:
    # Nobody moves while they talk, which takes a busy machine long.
    settings = {**config(bot, pool="anchor", abort_time=180), "journal": {"url": f"sqlite:///{tmp_path}/j.db"}}
    async with run_bridge(settings, kill=True) as bridge:
        game_id = await person.challenge("Kiri", 60)
        await arena_plays(arena, game_id)
        await asyncio.gather(person.say(game_id, "!pool winder"), told(bridge, "pool Winder", "Next time play 4+0"))
        (agreed,) = bridge.recorder.of(event_types.GAME_RULES)
        assert (agreed.data["pool"], agreed.data["white_ms"]) == ("winder", 60_000)
    async with run_bridge(settings) as bridge:
        playing = asyncio.create_task(person.play(game_id, 3))
        await plies(bridge, game_id, 2)
        await asyncio.gather(person.say(game_id, "!pool eclipse"), told(bridge, "It is too late"))
        await person.resign(game_id)
        live = await bridge.recorder.final()
        await playing
    assert live["pool"] == "winder"
    status, out, err = await run_command("journal", "verify", game_id, "--journal", str(tmp_path / "j.db"))
    assert (status, "1 agree" in out, "1 computed" in out) == (0, True, True), out + err
    status, out, _ = await run_command("journal", "replay", game_id, "--json", "--journal", str(tmp_path / "j.db"))
    assert json.loads(out)["pool"] == "winder"


async def test_so_many_takebacks_are_granted_and_no_more(
    arena: Arena, person: Person, run_bridge: Any, bot: Any, tmp_path: Path
) -> None:
    settings = {
        **config(bot, pool="anchor", max_takebacks_accepted=1),
        "journal": {"url": f"sqlite:///{tmp_path}/j.db"},
    }
    async with run_bridge(settings, kill=True) as bridge:
        game_id = await person.challenge("Kiri", 360)
        await arena_plays(arena, game_id)
        playing = asyncio.create_task(person.play(game_id, 5))
        await plies(bridge, game_id, 6)
        await person.ask_takeback(game_id)
        async with asyncio.timeout(60):
            while not bridge.recorder.of(event_types.GAME_TAKEBACK):
                await asyncio.sleep(0.02)
        await plies(bridge, game_id, 8)
    async with run_bridge(settings) as bridge:
        await person.ask_takeback(game_id)
        async with asyncio.timeout(60):
            while not arena.games[game_id].sides[chess.WHITE].takebacks_declined:
                await asyncio.sleep(0.02)
        assert not bridge.recorder.of(event_types.GAME_TAKEBACK)
        await person.resign(game_id)
        await bridge.recorder.final()
        await playing


async def plies(bridge: Any, game_id: str, least: int) -> None:
    """Until so many plies of the game were stored."""
    async with asyncio.timeout(60):
        while len(bridge.recorder.of(event_types.GAME_PLY)) < least:
            await asyncio.sleep(0.02)


async def told(bridge: Any, *texts: str) -> None:
    async with asyncio.timeout(60):
        while not all(
            any(text in str(entry.data["text"]) for entry in bridge.recorder.of(event_types.CHAT_SENT))
            for text in texts
        ):
            await asyncio.sleep(0.02)


async def arena_plays(arena: Arena, game_id: str) -> None:
    async with asyncio.timeout(30):
        while game_id not in arena.games:
            await asyncio.sleep(0.02)
