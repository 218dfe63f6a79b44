"""What `adjudicate` and `explain` are pointed at: files, stdin, Lichess game ids and addresses."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bridge.cli.values import split_address, without_secrets
from bridge.errors import RecordError, UsageError

if TYPE_CHECKING:
    from bridge.records.game import Game

DEFAULT_URL = "https://lichess.org"
_GAME_ID = re.compile(r"[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?")


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A file of games; `path` None is stdin."""

    path: Path | None

    @property
    def size(self) -> int:
        """Bytes, as far as they can be known."""
        return self.path.stat().st_size if self.path is not None and self.path.is_file() else 0

    def games(self, progress: Callable[[int], object] | None = None) -> Iterator["Game | RecordError"]:
        """Its games, in order."""
        from bridge.records.reader import read_games

        if self.path is None:
            return read_games(sys.stdin.buffer, "stdin", progress)
        return read_games(self.path, progress=progress)


@dataclass(frozen=True, slots=True)
class OnlineTarget:
    """A game on a server that speaks the Lichess API."""

    url: str
    game_id: str

    @property
    def size(self) -> int:
        """Unknown."""
        return 0

    def games(self, progress: Callable[[int], object] | None = None) -> Iterator["Game | RecordError"]:
        """The one game, downloaded."""
        from bridge.cli.download import download_game
        from bridge.records.export import read_export

        place = f"{self.url}/{self.game_id}"
        try:
            yield read_export(download_game(self.url, self.game_id)).game(place=place, site=self.url)
        except RecordError as error:
            yield error if error.place else RecordError(error.message, place=place)


def parse_target(given: str, url: str = DEFAULT_URL) -> FileTarget | OnlineTarget:
    """A path wins over a game id where both are possible; an address brings its own host.

    Raises:
        UsageError: neither a file nor a game.
    """
    if given == "-":
        return FileTarget(None)
    if "://" in given:
        return _address(given)
    path = Path(given)
    try:
        if path.is_dir():
            raise UsageError(f"{given} is a directory: name the files in it")
        if path.exists():
            return FileTarget(path)
    except OSError as error:
        raise UsageError(f"{given} cannot be a file: {(error.strerror or str(error)).lower()}") from error
    if _GAME_ID.fullmatch(given):
        return OnlineTarget(url.rstrip("/"), given[:8])
    raise UsageError(f"no such file: {given} (nor is it a Lichess game id or address)")


def _address(given: str) -> OnlineTarget:
    example = f"it should look like {DEFAULT_URL}/abcdefgh"
    try:
        server, path = split_address(given)
    except ValueError as error:
        raise UsageError(f"{without_secrets(given)} is no game's address (it {error}): {example}") from error
    first = path.strip("/").removeprefix("game/export/").split("/")[0]
    if not _GAME_ID.fullmatch(first):
        raise UsageError(f"{given} is no game's address: {example}")
    return OnlineTarget(server, first[:8])
