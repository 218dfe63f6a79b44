"""Exported games: the whole of a finished one, and the head of a running one (API §1.8)."""

from bridge.errors import Unreachable
from bridge.interfaces import FinishedGame, GameInfo, Player
from bridge.platforms.lichess.client import Client
from bridge.platforms.lichess.gate import Gate, Lane
from bridge.platforms.lichess.patience import until_answered
from bridge.platforms.lichess.shapes import read_object
from bridge.platforms.lichess.spectator import parse_watched
from bridge.records.export import ExportedPlayer, read_export
from bridge.rules.snapshot import RUNNING


def to_finished(found: object, site: str) -> FinishedGame:
    """An export object as the interface wants it.

    Raises:
        RecordError: it cannot be read, or its variant is not covered.
        Unreachable: the game still runs.
    """
    if not isinstance(found, dict):
        raise Unreachable("the export is no game")
    game = read_export(found)
    if game.snapshot.status in RUNNING:
        raise Unreachable(f"game {game.id} is still running, says the archive")
    info = GameInfo(
        id=game.id,
        white=_player(game.white),
        black=_player(game.black),
        variant=game.variant,
        rated=game.rated,
        speed=game.speed,
        time_control=game.time_control,
        start_fen=game.start_fen,
        tournament=game.tournament,
        url=f"{site}/{game.id}",
    )
    return FinishedGame(info, game.snapshot, game.source, game.precision_ms)


def _player(player: ExportedPlayer) -> Player:
    return Player(player.id, player.name, player.title, player.rating)


async def game_head(client: Client, gate: Gate, game_id: str) -> GameInfo:
    """Who plays what at which time control, running or over: spectator streams do not name it.

    Failures are waited out.

    Raises:
        Refused: there is no such game.
    """

    async def ask() -> GameInfo:
        async with gate.passage(Lane.POLL, "export"):
            answer = await client.get(f"/game/export/{game_id}", {"moves": "false", "clocks": "false"})
        return parse_watched(read_object(answer), client.url)

    return await until_answered(ask, client.timings, lambda: client.closed)
