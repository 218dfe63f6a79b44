"""What is remembered by game or by address has a bound: months go by, and the oldest are of no use any more."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


def forget_oldest(table: dict[K, V], most: int) -> None:
    """Keep `most` entries, those that were put in last."""
    while len(table) > most:
        del table[next(iter(table))]
