"""Whose file it is, and the steps of the conversion that both have in common."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bridge.errors import UsageError
from bridge.settings.importing.botli import botli
from bridge.settings.importing.draft import Draft
from bridge.settings.importing.lichess_bot import lichess_bot
from bridge.settings.importing.peer_file import PeerFile

_PEERS: dict[str, Callable[[Draft], None]] = {"lichess-bot": lichess_bot, "BotLi": botli}

_HEADER = """\
# Converted from a configuration of {peer}. The account's token is not in it: export LICHESS_TOKEN=…
# Casual games at a pool's time control are KiriChess; rated games, where they are accepted, are plain chess.
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """A converted file. `notes` are one line each: `key: why it has no counterpart`; `engines` their programs."""

    peer: str
    text: str
    notes: tuple[str, ...]
    engines: tuple[str, ...]


def convert(text: str, name: str, folder: str = "") -> Imported:
    """Make our file of another bot's; `name` is the file's, for messages, `folder` where it lies, seen from ours.

    Raises:
        UsageError: it is no YAML, or neither lichess-bot's nor BotLi's.
    """
    file = PeerFile(text, name)
    peer = _whose(file, name)
    draft = Draft(file, folder)
    _PEERS[peer](draft)
    for path in file.left():
        draft.tell(path, f"is no key of {peer} that we know; left out")
    return Imported(peer, draft.text(_HEADER.format(peer=peer)), tuple(draft.notes), tuple(_programs(draft)))


def _programs(draft: Draft) -> Iterator[str]:
    engines = draft.root.get("engines")
    for engine in engines.values() if isinstance(engines, dict) else ():
        path = engine.get("path") if isinstance(engine, dict) else None
        if isinstance(path, str):
            yield path


def _whose(file: PeerFile, name: str) -> str:
    if "accounts" in file.root:
        raise UsageError(f"{name}: is a configuration of this program already; see `config check`")
    if file.has("engine"):
        return "lichess-bot"
    if file.has("engines"):
        return "BotLi"
    raise UsageError(f"{name}: has neither `engine:` (lichess-bot) nor `engines:` (BotLi), so it is of neither")
