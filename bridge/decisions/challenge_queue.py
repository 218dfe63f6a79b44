"""Whose turn it is among the challenges that wait for a slot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bridge.decisions.challenge_rules import Offer

SortBy: TypeAlias = Literal["best", "first"]
Preference: TypeAlias = Literal["none", "human", "bot"]

_RATED_BONUS = 200
_TITLE_BONUS = 200


@dataclass(frozen=True, slots=True)
class Waiting:
    """A challenge that waits; the smaller its `number`, the earlier it came."""

    id: str
    number: int
    offer: Offer


def in_order(waiting: Sequence[Waiting], sort_by: SortBy, preference: Preference) -> list[Waiting]:
    """The order in which they get the slots that become free: those preferred, then the strongest or the earliest."""

    def place(one: Waiting) -> tuple[bool, int, int]:
        preferred = preference != "none" and one.offer.from_bot == (preference == "bot")
        return not preferred, -_worth(one.offer) if sort_by == "best" else 0, one.number

    return sorted(waiting, key=place)


def _worth(offer: Offer) -> int:
    return (offer.rating or 0) + _RATED_BONUS * offer.rated + _TITLE_BONUS * offer.titled
