"""How games end, in words for the catalogs (rules §8): each is translated where it is used."""

from collections.abc import Mapping


def _(message: str) -> str:
    """Mark a message for the catalogs."""
    return message


REASONS: Mapping[str, str] = {
    "checkmate": _("checkmate"),
    "flag": _("flagfall"),
    "flag_insufficient_material": _("flagfall, insufficient material to win"),
    "double_flag": _("both flags fell"),
    "stalemate": _("stalemate"),
    "threefold": _("threefold repetition"),
    "fifty_moves": _("fifty-move rule"),
    "insufficient_material": _("insufficient material"),
    "agreement": _("draw by agreement"),
    "resignation": _("resignation"),
    "abandonment": _("abandonment"),
    "forfeit": _("forfeit"),
    "platform_timeout": _("flag fell on the platform"),
    "aborted": _("aborted"),
    "unfinished": _("unfinished"),
}
CAUSES: Mapping[str, str] = {
    "thinking": _("thinking"),
    "toll": _("toll"),
    "capture": _("capture"),
    "chip": _("check chip"),
}
