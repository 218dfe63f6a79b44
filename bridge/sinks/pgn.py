"""A PGN file of every judged game, in one folder."""

import asyncio
import os
from pathlib import Path
from urllib.parse import quote

from bridge.errors import SinkError
from bridge.event_types import VERDICT_CHANGED, VERDICT_FINAL
from bridge.interfaces import Entry


class PgnFolder:
    """A Sink that writes `<folder>/<game id>.pgn` whenever a verdict brings a PGN; a later one replaces it."""

    def __init__(self, folder: Path) -> None:
        self.name = f"pgn {folder}"
        self._folder = folder

    async def write(self, entry: Entry) -> None:
        """Write the game's file, whole or not at all. Raises SinkError."""
        text = entry.data.get("pgn")
        if entry.type not in (VERDICT_FINAL, VERDICT_CHANGED) or not isinstance(text, str):
            return
        # A game's id comes from a server: quoted, it can name no other folder.
        file = self._folder / f"{quote(entry.subject, safe='')}.pgn"
        try:
            await asyncio.to_thread(_replace, file, text if text.endswith("\n") else text + "\n")
        except OSError as error:
            raise SinkError(
                f"{file} cannot be written: {error.strerror}; make room, let this user write there, or mend pgn.folder"
            ) from error

    async def close(self) -> None:
        """Nothing is kept open."""


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.tmp")
    with draft.open("w", encoding="utf-8", errors="replace") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
