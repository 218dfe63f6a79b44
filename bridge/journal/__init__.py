"""The journal: one numbered table of everything that happened, appended to and followed."""

from bridge.journal.sql import SqlJournal

__all__ = ["SqlJournal"]
