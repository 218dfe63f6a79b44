"""The pool of a game, by what events, lists and verdicts say of it."""

from collections.abc import Mapping
from typing import Final

PLAIN: Final = "standard"
"""What a game counts as that is played as plain chess: in filters, file names and metrics, and in the settings too."""


def pool_told(data: Mapping[str, object]) -> str:
    """`anchor`; `custom` where the dials are no pool's; `standard` where KiriChess is only noted."""
    return PLAIN if data.get("scored") is False else str(data.get("pool") or "custom")


def pool_title(data: Mapping[str, object]) -> str:
    """The same for people, with the pool that a plain game is noted by: `Anchor`, `plain chess (Anchor noted)`."""
    title = str(data.get("pool") or "custom").title()
    return f"plain chess ({title} noted)" if data.get("scored") is False else title
