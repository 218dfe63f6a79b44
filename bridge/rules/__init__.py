"""The rules of KiriChess, pure: no I/O, no wall clock, no logging. A library on its own.

Ten lines judge a game: make a `Setup` with a pool's rules, hand what the platform says to `judge` as a `Snapshot`.
"KiriChess" is by Michiel Gekiere, CC BY 4.0.
"""

from bridge.rules.diff import diff
from bridge.rules.endings import Flag, Outcome
from bridge.rules.ledger import Ledger, Row
from bridge.rules.pools import NAMED, POOLS, Ruleset, named, parse_dials
from bridge.rules.snapshot import RECORD_END, Anomaly, Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge, verdict

__all__ = [
    "NAMED",
    "POOLS",
    "RECORD_END",
    "Anomaly",
    "Flag",
    "Ledger",
    "Outcome",
    "Row",
    "Ruleset",
    "Setup",
    "Snapshot",
    "TimeControl",
    "Verdict",
    "diff",
    "judge",
    "named",
    "parse_dials",
    "verdict",
]
