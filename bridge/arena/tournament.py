"""An arena tournament: who takes part, and who plays whom next (Lichess API §1.7). Pure, time passed in."""

import enum
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from bridge.arena.accounts import Account
from bridge.arena.control import TimeControl, perf_key, perf_name
from bridge.arena.happenings import Rejected
from bridge.arena.lines import variant
from bridge.arena.streams import Json


class Stage(enum.IntEnum):
    """Lichess's numbers."""

    CREATED = 10
    STARTED = 20
    FINISHED = 30


@dataclass(slots=True, kw_only=True)
class Tournament:
    """Players are ids; those who pause are still listed, and play no more."""

    id: str
    name: str
    control: TimeControl
    starts_at_ms: int
    minutes: int = 30
    variant: str = "standard"
    rated: bool = True
    bots_allowed: bool = True
    team: str = ""
    password: str = ""
    players: dict[str, bool] = field(default_factory=dict)
    """Whether each of them plays on, in the order of their joining."""
    met: set[frozenset[str]] = field(default_factory=set)

    @property
    def ends_at_ms(self) -> int:
        return self.starts_at_ms + 60_000 * self.minutes

    def stage(self, now_ms: int) -> Stage:
        if now_ms < self.starts_at_ms:
            return Stage.CREATED
        return Stage.STARTED if now_ms < self.ends_at_ms else Stage.FINISHED

    def join(self, player: Account, password: str, now_ms: int) -> None:
        """Take part, or play on after a pause; raises Rejected."""
        if self.stage(now_ms) is Stage.FINISHED:
            raise Rejected("This tournament is over")
        if player.is_bot and not self.bots_allowed:
            raise Rejected("Bots are not allowed in this tournament")
        if self.password and password != self.password:
            raise Rejected("Invalid or missing password")
        self.players[player.id] = True

    def withdraw(self, player: Account, now_ms: int) -> None:
        """Before the start one's name is struck off, after it one pauses."""
        if self.stage(now_ms) is Stage.CREATED:
            self.players.pop(player.id, None)
        elif player.id in self.players:
            self.players[player.id] = False

    def pairs(self, there: Collection[str], now_ms: int) -> Iterator[tuple[str, str]]:
        """White and black of the games that begin now, among those that are there and play nothing."""
        if self.stage(now_ms) is not Stage.STARTED:
            return
        waiting = [player for player, plays in self.players.items() if plays and player in there]
        while len(waiting) > 1:
            white = waiting.pop(0)
            strangers = [other for other in waiting if frozenset((white, other)) not in self.met]
            black = (strangers or waiting)[0]
            waiting.remove(black)
            self.met.add(frozenset((white, black)))
            yield white, black

    def listed(self, now_ms: int) -> Json:
        """As in lists of tournaments."""
        perf = perf_key(self.variant, self.control.speed)
        return {
            "id": self.id,
            "createdBy": "lichess",
            "system": "arena",
            "minutes": self.minutes,
            "clock": {"limit": self.control.limit_s, "increment": self.control.increment_s},
            "rated": self.rated,
            "fullName": self.name,
            "nbPlayers": len(self.players),
            "variant": variant(self.variant),
            "startsAt": self.starts_at_ms,
            "finishesAt": self.ends_at_ms,
            "status": int(self.stage(now_ms)),
            "perf": {"key": perf, "name": perf_name(perf)},
            **self._starts_in(now_ms),
        }

    def page(self, now_ms: int) -> Json:
        """As on its own page: flags for its stage, its variant a word."""
        stage, body = self.stage(now_ms), self.listed(now_ms)
        for name in ("status", "finishesAt"):
            del body[name]
        standing = [{"rank": at + 1, "name": name, "score": 0} for at, name in enumerate(self.players)]
        body |= {"variant": self.variant, "standing": {"page": 1, "players": standing}}
        if stage is not Stage.CREATED:
            body["isStarted"] = True
        if stage is Stage.FINISHED:
            body["isFinished"] = True
        if self.bots_allowed:
            body["botsAllowed"] = True
        if self.password:
            body["private"] = True
        return body

    def _starts_in(self, now_ms: int) -> Json:
        wait_ms = self.starts_at_ms - now_ms
        return {"secondsToStart": -(-wait_ms // 1000)} if wait_ms > 0 else {}
