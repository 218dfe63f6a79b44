"""What the table of cursors holds besides the sinks': numbers under names that no sink has."""

from typing import Final

KNOWN: Final = " known"
"""Behind a sink's name: the journal knows that sink, though its cursor may still be 0."""

OF_A_GAME: Final = ("draw", "lang")
"""`KIND ACCOUNT GAME`: what is remembered of a game beside its entries, and goes with them."""

PRUNED: Final = "pruned"
"""The greatest number among the entries that were pruned: above it none is missing."""

RAW_SINCE: Final = "raw since"
"""The wall clock (ms) from which on the platform's lines are all kept; not there: they are not."""

RAISE: Final = """
    INSERT INTO cursor (name, seq) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET seq = max(cursor.seq, excluded.seq)
"""
"""Set a number that only grows."""
RAISE_KNOWN: Final = "UPDATE cursor SET seq = max(seq, ?) WHERE name = ?"
"""The same, where it is set already."""
BEGIN_WITH: Final = "INSERT INTO cursor (name, seq) VALUES (?, ?) ON CONFLICT (name) DO NOTHING"
"""Set a number, where it is not set yet."""
