"""The groups of games that peers play against our bot: each pool at its clocks, and rated games as plain chess."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bridge.arena.control import TimeControl
from bridge.decisions.pool_choice import DEFAULT_BY_TIME_CONTROL
from bridge.rules.pools import DEFAULT_POOL
from tests.peers.contenders import CONCURRENCY
from tests.peers.peers import STOCKFISH

PEER, OURS = "Peer", "Kiri"
OUR_TOKEN = "lip_Kiri"
_NODES = 2000
_SPEEDS = ["bullet", "blitz", "rapid", "classical"]
_WEAK = {"Threads": 1, "Hash": 16, "Skill Level": 10}


@dataclass(frozen=True, slots=True)
class Group:
    """Games of one kind. `pool` None: rated, plain chess; `pool_setting` is `play.pool`, empty: the default table.

    `seeker`: whose own matchmaking makes the challenges; nobody's, where the script makes them.
    """

    name: str
    pool: str | None
    clocks: tuple[TimeControl, ...]
    pool_setting: Mapping[str, Any] = field(default_factory=dict)
    seeker: str = ""

    @property
    def rated(self) -> bool:
        return self.pool is None

    def judged_by(self, clock: TimeControl) -> str:
        """The pool whose rules the verdict follows; that of a rated game is for the record only."""
        return self.pool or DEFAULT_BY_TIME_CONTROL.get(clock.show, DEFAULT_POOL)

    def clock(self, number: int) -> TimeControl:
        """Of a group's game, by its number; challenger and colour change in the four games before the clock does."""
        return self.clocks[number // 4 % len(self.clocks)]


def _minutes(*bases: int) -> tuple[TimeControl, ...]:
    return tuple(TimeControl(60 * base, 0) for base in bases)


GROUPS = (
    Group("winder", "winder", _minutes(1)),
    Group("winder, by opponent", "winder", _minutes(4), {"by_opponent": {PEER: "winder"}}),
    Group("ratchet", "ratchet", _minutes(4)),
    Group("fulcrum", "fulcrum", _minutes(5, 10)),
    Group("anchor", "anchor", _minutes(6, 9)),
    Group("mainspring", "mainspring", _minutes(15)),
    Group("eclipse", "eclipse", _minutes(24, 25)),
    Group("rated", None, (TimeControl(240, 0), TimeControl(180, 2))),
    Group("it challenges", "ratchet", _minutes(4), seeker=PEER),
    Group("we challenge", "ratchet", _minutes(4), seeker=OURS),
)


def our_config(url: str, group: Group) -> dict[str, Any]:
    """Everything that is not needed for quick games is left at its default.

    With White the engine that knows the clocks, with Black one that does not: KiriChess flags fall on both sides.
    """
    others = [{"engine": "plain", "color": "black"}]
    play: dict[str, Any] = {"engine": "kiri", "engines": others, "concurrency": CONCURRENCY}
    if group.pool_setting:
        play["pool"] = dict(group.pool_setting)
    if group.seeker == OURS:
        play["matchmaking"] = {
            "allow_matchmaking": True,
            "challenge_timeout": 1,
            "challenge_initial_time": group.clocks[0].limit_s,
            "back_off_minutes": 1,
        }
    if group.rated:
        play["challenge"] = {"modes": ["casual", "rated"]}
    engines = {
        "kiri": {"kind": "kiri", "nodes": _NODES, "options": {"Threads": 1, "Hash": 16}},
        "plain": {"kind": "uci", "path": str(STOCKFISH), "nodes": _NODES, "options": _WEAK},
    }
    return {
        "accounts": [{"platform": "lichess", "url": url, "token": OUR_TOKEN, "play": play}],
        "engines": engines,
        "journal": {"url": "sqlite:///journal.db"},
    }


def peer_config(config: dict[str, Any], group: Group) -> dict[str, Any]:
    """Stockfish at few nodes, weak enough that no two games are the same; as `peer_of` and `settle_in` write it."""
    return (_lichess_bot if "engine" in config else _botli)(config, group)


def _lichess_bot(config: dict[str, Any], group: Group) -> dict[str, Any]:
    options = {**_WEAK, "go_commands": {"nodes": _NODES}}
    seeking = {
        "allow_matchmaking": group.seeker == PEER,
        "challenge_variant": "standard",
        "challenge_mode": "casual",
        "challenge_timeout": 1,
        "challenge_initial_time": [group.clocks[0].limit_s],
        "challenge_increment": [0],
    }
    return {
        **config,
        "engine": config["engine"] | {"uci_options": options},
        "challenge": config["challenge"] | {"time_controls": _SPEEDS},
        "matchmaking": seeking,
    }


def _botli(config: dict[str, Any], group: Group) -> dict[str, Any]:
    """It challenges when it is started with the command `matchmaking`."""
    engine, terms = config["engines"]["standard"], config["challenge"]
    kinds = {kind: terms[kind] | {"time_controls": _SPEEDS} for kind in ("human", "bot")}
    offer = {"tc": group.clocks[0].show, "rated": False, "multiplier": 1}
    return {
        **config,
        "engines": {"standard": engine | {"uci_options": dict(_WEAK), "limits": {"nodes": _NODES}}},
        "challenge": terms | kinds,
        "matchmaking": config["matchmaking"] | {"delay": 10, "timeout": 20, "types": {"pool": offer}},
    }
