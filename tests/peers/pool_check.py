"""What one game against a peer has to be: ended by chess, KiriChess or resignation, and judged like its export."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import chess

from bridge import event_types
from bridge.arena.game import Game
from bridge.arena.happenings import Status

_ENDS = (Status.MATE, Status.STALEMATE, Status.DRAW, Status.RESIGN, Status.INSUFFICIENT_MATERIAL_CLAIM)
"""By chess, by giving up, by KiriChess: we resign, or claim the draw where the side whose flag stands cannot mate."""
_PLAIN = ("stream", "move", "accept", "export")
_TOLD = (event_types.VERDICT_FINAL, event_types.VERDICT_CHANGED)
_COMPARED = ("result", "reason", "flag", "ended_at_ply")


@dataclass(frozen=True, slots=True)
class Witnessed:
    """All that is known of a game: the arena's own, our events, `adjudicate` of its export, and what we asked for.

    `us` is our colour; `requests` are the paths of our requests about it, `said` our chat lines in both rooms.
    """

    game: Game
    us: chess.Color
    pool: str | None
    events: Sequence[Mapping[str, Any]]
    judged: Mapping[str, Any] | None
    requests: Sequence[str]
    said: Sequence[str]

    @property
    def verdict(self) -> Mapping[str, Any] | None:
        """The last one that was told after the end."""
        told = [event["data"]["verdict"] for event in self.events if event["type"] in _TOLD]
        return told[-1] if told else None

    @property
    def resigned(self) -> bool:
        """By us."""
        return self.game.status is Status.RESIGN and self.game.winner == (not self.us)

    @property
    def end(self) -> str:
        """How the platform's game ended, by whom."""
        key = self.game.status.key
        if self.game.status is Status.RESIGN:
            return "we resigned" if self.resigned else "it resigned"
        return key if self.game.winner is None else f"{key}, {'won' if self.game.winner == self.us else 'lost'}"

    @property
    def reason(self) -> str:
        """The KiriChess verdict's, with whose flag and why."""
        verdict = self.verdict or {}
        if (flag := verdict.get("flag")) is not None:
            whose = "ours" if flag["side"] == chess.COLOR_NAMES[self.us] else "its"
            return f"{verdict['reason']}, {whose} ({flag['cause']})"
        return str(verdict.get("reason", "none"))

    def faults(self) -> list[str]:
        """Everything that should not be; each with the game's id."""
        found = [*self._end(), *self._verdict(), *(self._rated() if self.pool is None else self._casual())]
        return [f"{self.game.id}: {fault}" for fault in found]

    def _end(self) -> Iterator[str]:
        if self.game.status not in _ENDS:
            yield f"the platform says {self.game.status.key}"
        if self.game.variant != "standard":
            yield f"variant {self.game.variant}"

    def _verdict(self) -> Iterator[str]:
        if self.verdict is None:
            yield "no final verdict"
        elif self.judged is None:
            yield "adjudicate gave no verdict"
        elif (differing := self.differing) and self.judged["certain"]:
            yield differing

    @property
    def differing(self) -> str:
        """How what was told differs from what the export says, if it does; that may be in doubt, and say so itself.

        The export rounds clocks to 80 ms (Lichess API §2.3); a flag can hang on less.
        """
        if self.verdict is None or self.judged is None:
            return ""
        ours, theirs = ({name: verdict[name] for name in _COMPARED} for verdict in (self.verdict, self.judged))
        return "" if ours == theirs else f"told {_brief(ours)}, adjudicate says {_brief(theirs)}"

    def _casual(self) -> Iterator[str]:
        started = [event["data"]["pool"] for event in self.events if event["type"] == event_types.GAME_STARTED]
        if started != [self.pool]:
            yield f"the pool was {', '.join(map(str, started)) or 'not told'}"
        verdict = self.verdict or {}
        # A flag of ours against bare material is a draw: it is offered, and the game goes on as plain chess.
        fell = verdict.get("flag") is not None and verdict["result"] == ("0-1" if self.us else "1-0")
        if self.resigned and not fell:
            yield "resigned without a flag"
        # The opponent's answer may be on its way when we resign.
        if fell and verdict["certain"] and self.game.plies > verdict["ended_at_ply"] + 1:
            yield "played on after our own flag"

    def _rated(self) -> Iterator[str]:
        if self.resigned:
            yield "resigned a rated game"
        if self.said:
            yield f"said {self.said[0]!r} in a rated game"
        acts = {path for path in self.requests if not any(kind in path.split("/") for kind in _PLAIN)}
        if acts:
            yield f"a rated game saw {', '.join(sorted(acts))}"


def _brief(verdict: Mapping[str, Any]) -> str:
    flag = verdict["flag"]
    how = f"{flag['side']}'s flag ({flag['cause']})" if flag else verdict["reason"]
    return f"{verdict['result']} by {how} at ply {verdict['ended_at_ply']}"
