"""What is stored as the driver takes it: statements and their values."""

import json
from dataclasses import dataclass

import sqlalchemy as sa
import zstandard
from sqlalchemy.dialects import sqlite

from bridge.interfaces import Draft, Entry
from bridge.journal import schema
from bridge.journal.raw import Block, pack

_JSON = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Row:
    """A draft whose data is JSON text already, so that what cannot be stored fails alone, before it joins a batch."""

    draft: Draft
    data: str

    @classmethod
    def of(cls, draft: Draft) -> "Row":
        """Raises TypeError or ValueError for data that is not plain JSON values."""
        return cls(draft, _JSON.encode(draft.data))


def _insert(table: sa.Table) -> str:
    return str(sa.insert(table).compile(dialect=sqlite.dialect(paramstyle="named")))


INSERT_EVENT, INSERT_RAW = _insert(schema.event), _insert(schema.raw)
SET_CURSOR = "INSERT INTO cursor (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq"
TOUCH = "UPDATE meta SET value = value"
"""A write that changes nothing."""


def event_columns(entry: Entry, row: Row) -> dict[str, object]:
    """The values of INSERT_EVENT."""
    return {
        "seq": entry.seq,
        "id": entry.id,
        "time_ms": entry.time_ms,
        "type": entry.type,
        "subject": entry.subject,
        "account": entry.account,
        "data": row.data,
        "key": row.draft.key,
    }


def block_columns(block: Block, after: int, compressor: zstandard.ZstdCompressor) -> dict[str, object]:
    """The values of INSERT_RAW."""
    return {
        "subject": block.subject,
        "source": block.source,
        "first": block.first,
        "id": None,
        "lines": len(block.lines),
        "after": after,
        "until_ms": block.lines[-1].wall_ms,
        "data": pack(block.lines, compressor),
    }
