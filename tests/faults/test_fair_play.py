"""What is always so: KiriChess acts only in casual games, from the platform's own readings, and chats within limits."""

import asyncio
import itertools
from typing import Any

import chess
import pytest

from bridge import event_types
from bridge.arena import offers
from bridge.rules.ledger import Ledger

ROOK_AGAINST_KING = "7k/8/8/8/8/8/R7/K7 w - - 0 1"


async def test_our_own_fall_is_resigned(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.session._RESIGN_AGAIN_S", 0.1)
    await table.run(pool="winder")
    table.faults.next("resign", status=400, body={"error": "not now"}, times=2)
    table.faults.next("resign", status=200, body={"ok": True}, times=1)
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.spend(game, 70_000)
    verdict = await table.final(game)
    assert (verdict["reason"], verdict["flag"]["side"]) == ("flag", "black")
    assert verdict["platform"] == {"result": "1-0", "status": "resign"}
    assert len(table.asked("/resign")) >= 4


async def test_no_resignation_on_an_estimate(table: Any) -> None:
    """The clock runs out by our own clock; no reading of the platform says so yet, and the move is still made."""
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    table.spend(game, 58_500)
    table.tell(game)
    await table.until(lambda: table.recorder.of(event_types.FLAG_PROVISIONAL, game.id))
    assert not table.asked("/resign")
    assert not any("flag fell" in line for line in table.said(game))


async def test_nothing_is_said_or_done_on_what_is_not_certain(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "certain", property(lambda ledger: False))
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    table.spend(game, 70_000)
    await table.play(game, 10)
    await table.until(lambda: table.recorder.of(event_types.VERDICT_PROVISIONAL, game.id))
    await table.resign(game)
    assert (await table.final(game))["reason"] == "flag"
    assert not any("flag fell" in line for line in table.said(game))


@pytest.mark.parametrize("more", [{"rated": True}, {"tournament_id": "abcdefgh", "source": "arena"}], ids=str)
async def test_in_rated_and_tournament_games_the_verdict_is_only_recorded(table: Any, more: dict[str, Any]) -> None:
    await table.run(pool="winder", greeting=True)
    game = table.pair(limit_s=300, **more)
    await table.play(game, 6)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.spend(game, 70_000)
    table.engine.delay_s = 0.0
    table.arena.hall.say(game, "player", "Human", "!clock")
    await table.play(game, 12)
    await asyncio.sleep(0.2)
    assert table.said(game) == []
    assert not table.asked("/resign")
    assert all(limit.black_ms > 200_000 for limit in table.engine.limits)
    await table.resign(game)
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1-0", "flag")
    assert verdict["platform"]["result"] == "0-1"


async def test_after_the_opponents_fall_the_platforms_clock_is_the_engines(table: Any) -> None:
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.play(game, 6)
    assert table.engine.limits[-1].black_ms < 60_000
    table.spend(game, 70_000)
    await table.play(game, 10)
    assert table.engine.limits[-1].black_ms > 250_000
    assert 200_000 < table.engine.limits[-1].white_ms < 240_000
    assert not game.over


async def test_a_draw_is_offered_once_where_only_kirichess_says_draw(table: Any) -> None:
    """White's flag falls against a lone king: drawn here, while Lichess knows nothing of it."""
    await table.run(pool="winder")
    game = table.pair(limit_s=300, fen=ROOK_AGAINST_KING)
    for uci in ("a2b2", "b2c2", "c2d2", "d2e2"):
        at = game.plies
        if uci == "c2d2":
            table.spend(game, 70_000)
        table.move(game, uci)
        await table.until(lambda at=at: game.plies == at + 2)
    assert len(table.asked("/draw/yes")) == 1
    await table.kill()
    await table.run(pool="winder")
    table.move(game, "e2e3")
    await table.until(lambda: game.plies == 10)
    assert len(table.asked("/draw/yes")) == 1
    hall = table.arena.hall
    hall.happen(game, offers.draw_yes(game, chess.WHITE, hall.game_now_ms(game)))
    verdict = await table.final(game)
    assert (verdict["result"], verdict["reason"]) == ("1/2-1/2", "flag_insufficient_material")


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        ("!clock", "KiriChess clocks: White "),
        ("!gap", "Clock gap: "),
        ("!pool", "KiriChess, pool Anchor"),
        ("!rules", "A move costs 1"),
        ("!help", "I referee KiriChess. Commands:"),
    ],
)
@pytest.mark.parametrize("room", ["player", "spectator"])
async def test_commands_are_answered_in_the_room_they_were_asked_in(
    table: Any, command: str, begins: str, room: str
) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    table.arena.hall.say(game, room, "Human", f" {command.upper()} ")
    await table.until(lambda: table.said(game, room))
    (line,) = table.said(game, room)
    assert line.startswith(begins)
    assert len(line) <= 140
    assert table.said(game, "spectator" if room == "player" else "player") == []


async def test_nobody_else_is_answered(table: Any) -> None:
    await table.run()
    game = table.pair()
    robots = table.arena.games[table.arena.pair("Robot", "Kiri", 540)]
    await table.play(game, 2)
    hall = table.arena.hall
    for user in ("Kiri", "lichess", "kiri", ""):
        hall.say(game, "player", user, "!clock")
    for room in ("player", "spectator"):
        hall.say(robots, room, "Robot", "!clock")
        hall.say(game, room, "Robot", "!clock")
    hall.say(game, "player", "Visitor", "!clock")
    hall.say(game, "spectator", "Nobody", "!clock")
    hall.say(game, "player", "Human", "hello there")
    await asyncio.sleep(0.2)
    assert not table.asked("/chat")


async def test_a_spectator_is_answered_once_known_for_a_person(table: Any) -> None:
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    table.arena.hall.say(game, "spectator", "Robot", "!clock")
    table.arena.hall.say(game, "spectator", "Visitor", "!gap")
    await table.until(lambda: table.said(game, "spectator"))
    (line,) = table.said(game, "spectator")
    assert line.startswith("Clock gap")
    assert table.said(game) == []


async def test_a_language_is_chosen_and_outlives_a_restart(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 50)
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    table.arena.hall.say(game, "player", "Human", "!lang fr")
    await table.until(lambda: table.said(game))
    table.arena.hall.say(game, "player", "Human", "!lang nl")
    await table.until(lambda: len(table.said(game)) == 2)
    await table.kill()
    await table.run()
    await table.settled(game)
    table.arena.hall.say(game, "player", "Human", "!gap")
    await table.until(lambda: len(table.said(game)) == 3)
    assert table.said(game)[1] == "Ik spreek hier nu Nederlands."
    assert table.said(game)[2].startswith("Klokkloof")
    await table.resign(game)
    await table.until(lambda: len(table.said(game)) == 4)
    assert table.said(game)[3].startswith("0-1 · opgave bij halve zet 4 · ")


async def test_what_waits_for_the_end_is_answered_then(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 50)
    await table.run(greeting={"pool": False, "goodbye": "Bye {opponent}, says {me}"})
    game = table.pair()
    await table.play(game, 4)
    table.arena.hall.say(game, "player", "Human", "!bill")
    await table.until(lambda: table.said(game))
    assert table.said(game) == ["I answer !bill after the game."]
    await table.resign(game)
    await table.until(lambda: len(table.said(game)) == 4)
    assert table.said(game)[2:] == ["No priced ending is on the board.", "Bye Human, says Kiri"]


async def test_who_opts_out_of_scoring_plays_plain_chess(table: Any) -> None:
    """Our KiriChess flag falls, and is neither told nor resigned on: not after a restart either."""
    await table.run(pool="winder")
    game = table.pair(limit_s=300)
    await table.settled(game)
    table.arena.hall.say(game, "player", "Human", "!standard")
    await table.until(lambda: table.said(game))
    await table.play(game, 6)
    await table.kill()
    await table.run(pool="winder")
    await table.settled(game)
    table.engine.delay_s = 0.2
    table.move(game, table.LINE[6])
    await table.until(lambda: table.engine.thinking == 1)
    table.spend(game, 70_000)
    await table.play(game, 10)
    await table.resign(game)
    assert not table.asked("/resign")
    assert len(table.said(game)) == 1


async def test_chat_keeps_its_limits(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bridge.voice.INTERVAL_MS", 50)
    await table.run()
    game = table.pair()
    await table.play(game, 4)
    for at in range(40):
        table.arena.hall.say(game, "player", "Human", ("!clock", "!gap", "!help", "!help")[at % 4])
        await asyncio.sleep(0.005)
    await table.until(lambda: len(table.said(game)) == 10)
    await asyncio.sleep(0.3)
    said = table.said(game)
    assert len(said) == 10
    assert all(a != b for a, b in itertools.pairwise(said))
    await table.resign(game)
    await table.until(lambda: len(table.said(game)) == 11)
    times = [line.at_ms for line in table.asked("/chat")]
    assert all(later - earlier >= 45 for earlier, later in itertools.pairwise(times))


async def test_nothing_goes_to_the_board_api_and_the_token_nowhere(table: Any, capfd: Any) -> None:
    await table.run(greeting=True)
    table.faults.next("move", status=500, times=1)
    table.faults.next("chat", status=403, body={"error": "no"}, times=1)
    game = table.pair()
    await table.play(game, 8)
    table.faults.drop("game")
    await table.play(game, 12)
    await table.resign(game)
    await table.kill()
    assert not [line for line in table.requests if line.account == "kiri" and "/api/board/" in line.path]
    out, err = capfd.readouterr()
    assert "tokenKiri" not in out + err
    for file in table.journal.parent.iterdir():
        assert b"tokenKiri" not in file.read_bytes()
