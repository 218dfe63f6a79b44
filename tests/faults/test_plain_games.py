"""Games that are played as plain chess: told as such everywhere, noted by KiriChess, and chosen back and forth."""

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest

from bridge import event_types
from bridge.records.game import Game
from bridge.records.reader import read_games
from bridge.rules.pools import parse_dials
from bridge.rules.verdict import Verdict
from bridge.sinks.pgn import PgnFolder
from bridge.sinks.plain_lines import plain_line


def read_back(pgn: str) -> Verdict:
    (game,) = read_games(io.BytesIO(pgn.encode()), "game.pgn")
    assert isinstance(game, Game)
    assert game.rules is not None
    return game.judge(parse_dials(game.rules))


async def say(table: Any, game: Any, text: str, answer: str, room: str = "player", user: str = "Human") -> None:
    table.arena.hall.say(game, room, user, text)
    await table.until(lambda: table.said(game, room) and answer in table.said(game, room)[-1], what=answer)


@pytest.fixture(autouse=True)
def quick_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 20)


async def told_as_plain(table: Any, game: Any, folder: Path) -> None:
    """What the end of a plain game says of it."""
    verdict = await table.final(game)
    assert (verdict["pool"], verdict["scored"]) == ("winder", False)
    (final,) = table.recorder.of(event_types.VERDICT_FINAL, game.id)
    assert final.data["text"].endswith("Winder · plain chess, not scored")
    assert '[KiriScored "no"]' in final.data["pgn"]
    back = read_back(final.data["pgn"])
    assert not back.setup.rules.scored
    assert (back.outcome.reason, back.white_ms) == (verdict["reason"], verdict["white_ms"])
    await PgnFolder(folder, "pool").write(final)
    assert (folder / "standard.pgn").read_text().rstrip() == final.data["pgn"].rstrip()


@pytest.mark.parametrize("more", [{"rated": True}, {"tournament_id": "abcdefgh", "source": "arena"}], ids=str)
async def test_a_rated_game_and_one_in_a_tournament_are_plain_chess_from_the_start(
    table: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    await table.run(pool="winder", greeting=True)
    game = table.pair(limit_s=300, **more)
    await table.play(game, 6)
    await table.resign(game)
    (started,) = table.recorder.of(event_types.GAME_STARTED, game.id)
    assert started.data["scored"] is False
    assert plain_line(started).endswith("plain chess (Winder noted)")
    assert all(entry.data["scored"] is False for entry in table.recorder.of(event_types.GAME_PLY, game.id))
    await told_as_plain(table, game, tmp_path / "pgn")


async def test_who_opts_out_is_told_of_as_plain_chess_after_a_restart_too(table: Any, tmp_path: Path) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.settled(game)
    await say(table, game, "!standard", "This game is plain chess")
    await table.until(lambda: table.recorder.of(event_types.GAME_RULES, game.id))
    (agreed,) = table.recorder.of(event_types.GAME_RULES, game.id)
    assert (agreed.data["pool"], agreed.data["scored"]) == ("winder", False)
    assert "plain chess (Winder noted) from now on" in plain_line(agreed)
    await table.kill()
    await table.run(pool="winder")
    await table.play(game, 4)
    await say(table, game, "!pool", "This game is plain chess")
    await table.resign(game)
    await told_as_plain(table, game, tmp_path / "pgn")


async def test_a_scored_game_says_nothing_of_it(table: Any) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 4)
    await table.resign(game)
    assert "scored" not in await table.final(game)
    (final,) = table.recorder.of(event_types.VERDICT_FINAL, game.id)
    assert "plain chess" not in final.data["text"]
    assert "KiriScored" not in final.data["pgn"]
    assert read_back(final.data["pgn"]).setup.rules.scored


async def test_the_opponent_goes_back_to_a_pool_before_move_two(table: Any) -> None:
    """Also over a restart; in the pool our flag is resigned on again."""
    await table.run(pool="anchor")
    game = table.pair(limit_s=300)
    await table.settled(game)
    await say(table, game, "!standard", "This game is plain chess")
    await table.kill()
    await table.run(pool="anchor")
    await table.settled(game)
    await say(table, game, "!pool winder", "pool Winder")
    await say(table, game, "!standard", "This game is plain chess")
    await say(table, game, "!pool winder", "pool Winder")
    await table.play(game, 6)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.spend(game, 70_000)
    verdict = await table.final(game)
    assert verdict["pool"] == "winder"
    assert "scored" not in verdict
    assert verdict["platform"] == {"result": "1-0", "status": "resign"}
    scored = [entry.data["scored"] for entry in table.recorder.of(event_types.GAME_RULES, game.id)]
    assert scored == [False, True, False, True][-len(scored) :]


async def test_a_refusal_names_what_bars_it(table: Any) -> None:
    await table.run(pool="anchor")
    game = table.pair()
    await table.settled(game)
    await say(table, game, "!pool winder", "in the players’ chat", room="spectator")
    await say(table, game, "!standard", "Only my opponent", room="spectator", user="Visitor")
    assert not table.recorder.of(event_types.GAME_RULES, game.id)
    await table.play(game, 2)
    await say(table, game, "!standard", "before move two")
    await say(table, game, "!gap", "Clock gap")
    await say(table, game, "!pool winder", "before move two")
    assert (await table_pool(table, game)) == "anchor"


async def test_spectators_leave_lines_to_the_opponent(table: Any) -> None:
    """The lines of a game are counted, and whoever watches could ask until the opponent can choose nothing any more."""
    await table.run(pool="anchor")
    game = table.pair(limit_s=540)
    await table.settled(game)
    await say(table, game, "!gap", "Clock gap", room="spectator", user="Visitor")
    for command in ("!clock", "!name", "!rules", "!ping", "!queue", "!engine", "!help", "!clock", "!name", "!rules"):
        table.arena.hall.say(game, "spectator", "Visitor", command)
        await asyncio.sleep(0.05)
    await say(table, game, "!standard", "This game is plain chess")
    assert len(table.said(game, "spectator")) <= 3


async def test_rules_that_can_no_longer_be_told_are_not_changed(table: Any) -> None:
    """The lines of a game are counted: what the opponent was told last is what is played."""
    await table.run(pool="anchor")
    game = table.pair(limit_s=540)
    await table.settled(game)
    for number in range(10):
        await say(
            table, game, f"!pool {('winder', 'ratchet')[number % 2]}", f"pool {('Winder', 'Ratchet')[number % 2]}"
        )
    table.arena.hall.say(game, "player", "Human", "!standard")
    table.arena.hall.say(game, "player", "Human", "!pool eclipse")
    assert (await table_pool(table, game)) == "ratchet"


async def test_the_engine_follows_the_pool_that_is_chosen_in_chat(table: Any) -> None:
    """As it does when the game is taken up again after a restart."""
    own = {"engines": {"fake": {"kind": "random"}, "plain": {"kind": "kiri", "builtin": True}}}
    await table.run(more=own, engines=[{"engine": "plain", "pool": "standard"}])
    game = table.pair()
    await table.settled(game)
    await say(table, game, "!engine", "legal moves by lot")
    await say(table, game, "!standard", "This game is plain chess")
    await say(table, game, "!engine", "own search")
    await say(table, game, "!pool winder", "pool Winder")
    await say(table, game, "!engine", "legal moves by lot")


async def table_pool(table: Any, game: Any) -> object:
    await table.resign(game)
    return (await table.final(game))["pool"]


@pytest.mark.parametrize(
    ("lang", "limit_s", "pool", "line"),
    [
        ("en", 360, "anchor", "Next time play 9+0: transfers lengthen games"),
        ("nl", 300, "fulcrum", "Speel de volgende keer 10+0"),
        ("en", 540, "anchor", ""),
    ],
)
async def test_the_greeting_says_why_a_longer_clock_is_better(
    table: Any, lang: str, limit_s: int, pool: str, line: str
) -> None:
    """Where the time control has chosen the pool: its exact control is not its safe one."""
    controls = {"by_time_control": {f"{limit_s // 60}+0": pool}}
    await table.run(pool=controls, greeting=True, language=lang)
    game = table.pair(limit_s=limit_s)
    await table.until(lambda: len(table.said(game)) == (3 if line else 2))
    await table.play(game, 4)
    assert pool.title() in table.said(game)[0]
    assert table.said(game)[-1].startswith(line)
    assert len(table.said(game)) == (3 if line else 2)


async def test_a_rated_game_stays_plain_whatever_its_opponent_says(table: Any) -> None:
    await table.run(pool="anchor", challenge={"modes": ["rated"]})
    game = table.pair(limit_s=300, rated=True)
    await table.settled(game)
    table.arena.hall.say(game, "player", "Human", "!pool winder")
    await table.play(game, 4)
    await table.resign(game)
    verdict = await table.final(game)
    assert (verdict["pool"], verdict["scored"]) == ("anchor", False)
    assert not table.said(game)
