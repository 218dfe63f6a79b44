"""A page's words in its reader's language: messages, numbers, clocks, and how a game ended."""

import gettext
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from bridge.records.verdict_words import CAUSES, REASONS
from bridge.rules.clock_text import clock_text

LANGUAGES: Mapping[str, str] = {"en": "English", "nl": "Nederlands", "fr": "Français", "pt": "Português"}


def _(message: str) -> str:
    """Mark a message for the catalogs; it is translated where it is used."""
    return message


REFUSALS: Mapping[int, str] = {
    400: _("That cannot be asked for."),
    403: _("That is not allowed."),
    404: _("There is nothing here."),
    429: _("Too much was asked for. Try again in a moment."),
}
REFUSED = _("It does not work just now.")
"""What a page says instead of anything else, by HTTP status."""
_FELL: Mapping[str, str] = {"white": _("White’s flag fell ({cause})"), "black": _("Black’s flag fell ({cause})")}
_FORCED: Mapping[str, str] = {
    "white": _("White’s flag fell ({cause}): a forced flagfall"),
    "black": _("Black’s flag fell ({cause}): a forced flagfall"),
}
_ANOMALIES: Mapping[str, str] = {
    "berserk": _("a player berserked: less time and no increment on the platform"),
    "clock_fell": _("a clock fell while its player was not on move: it was left out"),
    "foreign_moves": _("the platform showed moves of another game; it was asked again"),
    "forfeit": _("the platform forfeited the game"),
    "illegal_move": _("an illegal move on the platform"),
    "moves_replaced": _("the platform’s moves are no longer those that were known"),
    "no_winner": _("abandoned, and the platform names no winner"),
    "platform_clock_too_short": _("the platform’s clock was shorter than is safe"),
    "platform_draw_rule": _("the platform drew it by a rule of its own"),
    "platform_end": _("the platform ended the game as the board does not show"),
    "resync": _("a platform clock jumped without a move"),
    "termination_unknown": _("the reason of the end is not known: taken from the result"),
    "time_control": _("no usable time control: judged on moves alone"),
    "time_given": _("a player was given time on the platform"),
}
"""By kind; English readers get the note itself, which has the figures."""
_CHANGES: tuple[str, ...] = (
    _("judged again from the finer source {source}"),
    _("judged again on request, from the source {source}"),
)
"""Why a verdict was changed, as the journal has it."""
FOR_SCRIPTS: tuple[str, ...] = (
    _("White"),
    _("Black"),
    _("start position"),
    _("thinking"),
    _("thinking (unknown)"),
    _("captures a pawn"),
    _("captures a knight"),
    _("captures a bishop"),
    _("captures a rook"),
    _("captures a queen"),
    _("toll"),
    _("promotion fee"),
    _("check chip"),
    _("increment"),
    _("repetition guard"),
    _("The position has occurred before: nothing is paid."),
    _("Played after the end: it does not count."),
    _("both clocks start here"),
    _("all in all"),
    _("no move yet"),
    _("live"),
    _("connection lost, trying again"),
    _("can be paid"),
    _("cannot be paid"),
    _("White’s flag has fallen, to be confirmed"),
    _("Black’s flag has fallen, to be confirmed"),
    _("{ending} costs about {bill} s in {moves} moves; the clock must hold {needed} s and holds {clock} s."),
    _("{move}: White {white}, Black {black}"),
    _("The bot has resigned."),
    _("No more games are taken; the program ends when the running ones are over."),
    _("The configuration is being read again; the log tells what came of it."),
    _("Judged again: the verdict has changed."),
    _("Judged again: the verdict is as it was."),
    _("It was not done: {reason}"),
    _("The program does not answer."),
)
"""What the scripts say, by their English words."""


@dataclass(frozen=True)
class Words:
    """`lang` is one of LANGUAGES; `chosen`: by the reader in the address, so that links carry it on."""

    lang: str = "en"
    chosen: bool = False
    catalog: gettext.NullTranslations = field(default_factory=gettext.NullTranslations)
    asked: Mapping[str, str] = field(default_factory=dict)
    """What else the address asks for: another language shows the same page."""

    def gettext(self, message: str) -> str:
        """A message in the language; `{names}` in it are for `str.format`."""
        return self.catalog.gettext(message)

    def to_json(self) -> dict[str, object]:
        """For the scripts: messages by their English words, the decimal mark and the pieces' letters."""
        messages = {message: self.gettext(message) for message in FOR_SCRIPTS}
        return {"lang": self.lang, "decimal": self.decimal, "pieces": self.pieces, "messages": messages}

    @property
    def decimal(self) -> str:
        """The decimal mark."""
        return "." if self.lang == "en" else ","

    @property
    def pieces(self) -> str:
        """The letters of king, queen, rook, bishop and knight."""
        return {"nl": "KDTLP", "fr": "RDTFC", "pt": "RDTBC"}.get(self.lang, "KQRBN")

    @property
    def languages(self) -> Mapping[str, str]:
        """Every language there is, by its own name."""
        return LANGUAGES

    @property
    def reasons(self) -> Mapping[str, str]:
        """Every way a game can end, in English."""
        return REASONS

    @property
    def html_lang(self) -> str:
        """The language as HTML names it."""
        return "pt-BR" if self.lang == "pt" else self.lang

    @property
    def query(self) -> str:
        """What a link adds to carry the reader's choice on."""
        return f"?lang={self.lang}" if self.chosen else ""

    def in_language(self, code: str) -> str:
        """The query that shows this page in another language."""
        return "?" + urlencode({"lang": code, **{name: value for name, value in self.asked.items() if name != "lang"}})

    def clock(self, ms: int | None) -> str:
        """A clock, or a dash where it is not known."""
        return "–" if ms is None else clock_text(ms).replace(".", self.decimal)

    def move(self, fen: str, san: str) -> str:
        """`12… Nf6` with the language's letters; `fen`: the position that the move led to, empty: not known."""
        told = san.translate(str.maketrans("KQRBN", self.pieces))
        if not fen:
            return told
        _, turn, *_, number = fen.split(" ")
        return f"{number + '.' if turn == 'b' else f'{int(number) - 1}…'} {told}"

    def anomaly(self, anomaly: Mapping[str, object]) -> str:
        """What was odd in a game, by a verdict's anomaly: its note, or what its kind means in other languages."""
        told = _ANOMALIES.get(str(anomaly.get("kind")))
        return str(anomaly.get("note", "")) if told is None or self.lang == "en" else self.gettext(told)

    def change(self, cause: str) -> str:
        """Why a verdict was changed; a cause that is not known stays as it was told."""
        for message in _CHANGES:
            start = message.removesuffix("{source}")
            if cause.startswith(start):
                return self.gettext(message).format(source=cause.removeprefix(start))
        return cause

    def reason(self, verdict: Mapping[str, object]) -> str:
        """How a game ended by a verdict (`kirichess.verdict/1`): whose flag, by what, or the reason."""
        reason, flag = verdict.get("reason"), verdict.get("flag")
        if isinstance(flag, Mapping) and reason == "flag" and flag.get("side") in _FELL:
            message = (_FORCED if flag.get("forced") else _FELL)[flag["side"]]
            cause = self.gettext(CAUSES.get(str(flag.get("cause")), str(flag.get("cause"))))
            return self.gettext(message).format(cause=cause)
        return self.gettext(REASONS.get(str(reason), str(reason)))


def choose_language(asked: str | None, setting: str | None, accepted: str) -> tuple[str, bool]:
    """The language of a page and whether its reader asked for it: `?lang=`, else the setting, else the browser's."""
    if asked is not None and asked in LANGUAGES:
        return asked, True
    if setting is not None and setting in LANGUAGES:
        return setting, False
    ranked = []
    for place, part in enumerate(accepted.split(",")[:20]):
        tag, _semicolon, quality = part.strip().partition(";q=")
        lang = tag[:2].lower()
        if lang in LANGUAGES:
            ranked.append((-_share(quality), place, lang))
    return (min(ranked)[2] if ranked else "en"), False


def _share(quality: str) -> float:
    try:
        return float(quality or 1)
    except ValueError:
        return 0.0
