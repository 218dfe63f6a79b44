"""Every judged game as PGN in one folder: a file for each game, opponent or pool, or one for all."""

import asyncio
import os
import re
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import quote

from bridge.errors import SinkError
from bridge.event_types import VERDICT_CHANGED, VERDICT_FINAL
from bridge.interfaces import Entry
from bridge.records.pool_told import pool_told

Group: TypeAlias = Literal["game", "opponent", "pool", "all"]
_GAMES = re.compile(r'^(?=\[Event ")', re.MULTILINE)
_BEHIND = "\n\n"
"""After every game, the last of a file too: files that are joined are games that every reader tells apart."""


class PgnFolder:
    """A Sink that writes a game whenever a verdict brings its PGN; a later one replaces it, in the place it has.

    By group: `<game id>.pgn`, `<opponent>.pgn` (both names of a game that is only watched), `<pool>.pgn`
    (`standard.pgn`: plain chess), `games.pgn`.
    """

    def __init__(self, folder: Path, group: Group = "game") -> None:
        self.name = f"pgn {folder}"
        self._folder = folder
        self._group = group

    async def write(self, entry: Entry) -> None:
        """Write the file that the game belongs in, whole or not at all. Raises SinkError."""
        text = entry.data.get("pgn")
        if entry.type not in (VERDICT_FINAL, VERDICT_CHANGED) or not isinstance(text, str):
            return
        # A game's id comes from a server: quoted, it can name no other folder.
        name = entry.subject if self._group == "game" else _name(self._group, text, entry.account)
        file = self._folder / f"{quote(name, safe=' ')}.pgn"
        text = text.strip("\n") + _BEHIND
        try:
            await asyncio.to_thread(_replace if self._group == "game" else _merge, file, text)
        except OSError as error:
            raise SinkError(
                f"{file} cannot be written: {error.strerror}; make room, let this user write there, or mend pgn.folder"
            ) from error

    async def close(self) -> None:
        """Nothing is kept open."""


def _name(group: Group, text: str, account: str | None) -> str:
    if group == "all":
        return "games"
    if group == "pool":
        return pool_told({"pool": _tag(text, "KiriPool"), "scored": _tag(text, "KiriScored") != "no"})
    players = [_tag(text, "White") or "unknown", _tag(text, "Black") or "unknown"]
    own = (account or "").lower()
    others = [player for player in players if player.lower() != own]
    return others[0] if len(others) == 1 else " - ".join(players)


def _tag(text: str, name: str) -> str:
    found = re.search(rf'^\[{name} "((?:[^"\\]|\\.)*)"\]', text, re.MULTILINE)
    return found[1] if found else ""


def _merge(file: Path, text: str) -> None:
    """Put one game among those that the file has: the whole file is written anew, so a kill loses none of them."""
    try:
        there = file.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        there = ""
    games = [game.strip("\n") for game in _GAMES.split(there) if game.strip()]
    number, new = _tag(text, "GameId"), text.strip("\n")
    at = next((index for index, game in enumerate(games) if number and _tag(game, "GameId") == number), None)
    games = [*games, new] if at is None else [*games[:at], new, *games[at + 1 :]]
    _replace(file, "".join(game + _BEHIND for game in games))


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.tmp")
    with draft.open("w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
