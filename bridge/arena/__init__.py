"""A small Lichess for tests, demos and rehearsals: real clients play whole games on it, with nothing but loopback."""

from bridge.arena.accounts import Account
from bridge.arena.faults import Faults
from bridge.arena.http import RequestLine
from bridge.arena.recordings import Recording, read_recordings
from bridge.arena.replay import seat_token
from bridge.arena.server import Arena
from bridge.arena.settings import ArenaSettings
from bridge.arena.streams import Fate

__all__ = [
    "Account",
    "Arena",
    "ArenaSettings",
    "Fate",
    "Faults",
    "Recording",
    "RequestLine",
    "read_recordings",
    "seat_token",
]
