"""A game as a file or a platform tells it, before anybody has said by which rules it is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from bridge.errors import DialError, RecordError
from bridge.records.effect_comments import misfit
from bridge.rules.pools import Ruleset, parse_dials
from bridge.rules.snapshot import Setup, Snapshot, TimeControl
from bridge.rules.verdict import Verdict, judge


@dataclass(frozen=True, slots=True)
class Game:
    """One game that was read; `setup(rules)` and `snapshot` are what `bridge.rules` judges.

    `rules`: the dials the game carries itself (a record's `rules`, KiriChess PGN tags), None where it carries none.
    Not `scored`: it was played as plain chess, whatever it is judged by.
    `tags`: a PGN's own, empty for what is none; `effects`: what its `[%keff]` say by ply, where any of them says
    something; `movetext`: its lines with their numbers. `place`: file, game number and line, for messages.
    """

    place: str
    game_id: str
    snapshot: Snapshot
    source: str
    precision_ms: int | None
    start_fen: str | None = None
    chess960: bool = False
    time_control: TimeControl | None = None
    free_first_moves: bool = False
    white: str = ""
    black: str = ""
    site: str = ""
    rules: Mapping[str, object] | None = None
    scored: bool = True
    tags: Mapping[str, str] = field(default_factory=dict)
    effects: Sequence[str | None] = ()
    movetext: Sequence[tuple[int, str]] = field(default=(), repr=False, compare=False)

    def setup(self, rules: Ruleset) -> Setup:
        """What is settled before the first move, under these rules."""
        return Setup(
            game_id=self.game_id,
            rules=rules if self.scored else replace(rules, scored=False),
            source=self.source,
            precision_ms=self.precision_ms,
            start_fen=self.start_fen,
            chess960=self.chess960,
            time_control=self.time_control,
            free_first_moves=self.free_first_moves,
            white=self.white,
            black=self.black,
            site=self.site,
        )

    def judge(self, rules: Ruleset) -> Verdict:
        """The verdict under these rules; effects that a PGN of ours tells otherwise are an anomaly.

        Raises:
            RecordError: bad FEN or an illegal move, with the game's place.
        """
        try:
            verdict = judge(self.setup(rules), self.snapshot)
        except RecordError as error:
            raise RecordError(error.message, place=self.place) from error
        odd = misfit(self.effects, verdict) if self.effects and self._carries(rules) else None
        return verdict if odd is None else replace(verdict, anomalies=(*verdict.anomalies, odd))

    def _carries(self, rules: Ruleset) -> bool:
        """Whether these are the rules under which its effects were written."""
        try:
            return self.rules is not None and parse_dials(self.rules).dials == rules.dials
        except DialError:
            return False  # whoever judges by them is told so


def is_lichess(site: str) -> bool:
    """Whether an address has host lichess.org or below it: there the first moves are free (rules §6)."""
    try:
        host = urlsplit(site if "//" in site else f"//{site}").hostname or ""
    except ValueError:
        return False
    return host == "lichess.org" or host.endswith(".lichess.org")


def unnamed(file: str, number: int) -> str:
    """The id of a game that has none: its file's name and its number there."""
    return f"{printable(file.rsplit('/', 1)[-1])}#{number}"


def printable(text: str) -> str:
    """A name or address from a file, fit for a terminal: no control characters, no lone surrogates."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text).strip()
