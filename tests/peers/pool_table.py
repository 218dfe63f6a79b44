"""All games against the peers as one table: a row for each peer and group."""

import os
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.peers.contenders import Contender
from tests.peers.pool_check import Witnessed
from tests.peers.pool_groups import Group

_HEADING = (
    "| peer | group | clocks | games | won–drawn–lost on the platform | how they ended there "
    "| won–drawn–lost in KiriChess | verdicts | plies | faults |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
_RESULTS = ("1-0", "0-1")


@dataclass(frozen=True, slots=True)
class Row:
    """One peer's games of one group. `trouble`: what is not about one game; it counts as a fault."""

    peer: str
    group: Group
    games: Sequence[Witnessed]
    trouble: Sequence[str] = ()
    refusals: Counter[str] = field(default_factory=Counter)
    """Requests that were not answered with 200: who, status and path."""
    logged: Counter[str] = field(default_factory=Counter)
    """Warnings and errors of our log, and traces of the peer's."""
    beyond: Counter[str] = field(default_factory=Counter)
    """Refused beyond loopback: `host port`."""

    @property
    def faults(self) -> list[str]:
        return [*self.trouble, *(fault for game in self.games for fault in game.faults())]

    def line(self) -> str:
        clocks = ", ".join(clock.show for clock in self.group.clocks)
        ends, reasons = Counter(game.end for game in self.games), Counter(game.reason for game in self.games)
        plies = sorted(game.game.plies for game in self.games)
        spread = f"{plies[0]}–{plies[-1]}" if plies else "–"
        platform_score = _score((game.us, _platform_result(game)) for game in self.games)
        own_score = _score((game.us, str((game.verdict or {}).get("result"))) for game in self.games)
        return (
            f"| {self.peer} | {self.group.name} | {clocks} | {len(self.games)} | {platform_score} | {_counted(ends)} "
            f"| {own_score} | {_counted(reasons)} | {spread} | {len(self.faults)} |"
        )


def _platform_result(witnessed: Witnessed) -> str:
    winner = witnessed.game.winner
    return "1/2-1/2" if winner is None else "1-0" if winner else "0-1"


def _score(results: Iterable[tuple[bool, str]]) -> str:
    """Ours; a result that is none counts as a draw nowhere."""
    points = Counter(
        "draw" if result == "1/2-1/2" else "won" if result == _RESULTS[not us] else "lost"
        for us, result in results
        if result in ("1-0", "0-1", "1/2-1/2")
    )
    return f"{points['won']}–{points['draw']}–{points['lost']}"


def _counted(counts: Counter[str]) -> str:
    return "; ".join(f"{what} {count}" for what, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def pools_part(rows: Sequence[Row], ours: Contender, peers: Sequence[Contender], games: int) -> str:
    """The part of RESULTS.md, without its heading."""
    faults = [f"- {row.peer}, {row.group.name}: {fault}" for row in rows for fault in row.faults]
    notes = [f"- {row.peer}, {row.group.name}: {note}" for row in rows if (note := _notes(row))]
    beyond = sum((row.beyond for row in rows), Counter[str]())
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, {os.cpu_count()} processors, "
        f"load {os.getloadavg()[2]:.1f}. Written by "
        f"`python -m tests.peers.all_pools --lichess-bot DIR --botli DIR --games {games}`.",
        "",
        *(f"- {contender.name}: commit {contender.commit}" for contender in (*peers, ours)),
        "",
        *_EXPLANATION.splitlines(),
        "",
        f"Games: {sum(len(row.games) for row in rows)}. Faults: {len(faults)}. "
        f"Refused beyond loopback: {_counted(beyond) or 'nothing'}.",
        *(["", *faults] if faults else []),
        "",
        *_HEADING,
        *(row.line() for row in rows),
        *(["", "Not answered with 200, logged as trouble, in doubt by the export:", "", *notes] if notes else []),
        "",
    ]
    return "\n".join(lines)


def _notes(row: Row) -> str:
    doubts = [f"{game.game.id}: {game.differing}, in doubt" for game in row.games if _in_doubt(game)]
    return "; ".join([*doubts, *([_counted(noted)] if (noted := row.refusals + row.logged) else [])])


def _in_doubt(witnessed: Witnessed) -> bool:
    return bool(witnessed.differing) and witnessed.judged is not None and not witnessed.judged["certain"]


_EXPLANATION = """\
The peers are unmodified and see standard chess. Stockfish plays for them (2000 nodes, skill level 10) and for us with
Black, `kind: kiri` (2000 nodes) for us with White. For each group a fresh arena, daemon and peer. Three games at a
time, begun one after the other; half of the challenges come from our account, half from the peer's, by the arena's
challenge desk; colours change too. "By opponent" is `play.pool: by_opponent`, the other pools are those of the default
table. In the last two groups of each peer the challenges are those of its own matchmaking, or of ours, after one of the
script's: lichess-bot challenges nobody who has not played yet.

A fault is: an abort, a flag or a claim of time on the platform; a challenge that became no game; a resignation of ours
without a loss by our KiriChess flag, or moves of ours after such a loss; another pool than asked for; no final verdict,
or one that differs in result, reason, flag or ply from `adjudicate` of the arena's export, unless that says itself that
its rounded clocks leave it in doubt; and in rated games, which are judged for the record only, any chat line,
resignation or offer of ours at all.
"""
