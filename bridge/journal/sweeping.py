"""Housekeeping among the raw lines, in pieces so small that no commit waits long for one."""

from typing import Any

import sqlalchemy as sa

from bridge.journal import schema
from bridge.journal.raw import pack, unpack

FORGOTTEN_AT_ONCE = 200

_raw = schema.raw.c


def forget_some(connection: sa.Connection, before_ms: int) -> bool:
    """Delete blocks whose last line came before `before_ms`; True if there were as many as go at once."""
    old = sa.select(_raw.id).where(_raw.until_ms < before_ms).limit(FORGOTTEN_AT_ONCE)
    return connection.execute(sa.delete(schema.raw).where(_raw.id.in_(old))).rowcount == FORGOTTEN_AT_ONCE


def merge_some(connection: sa.Connection, between_ms: tuple[int, int]) -> bool:
    """Make one block of the consecutive ones of one game and source; False if there is none to be done.

    A line repeats most of the one before it, so one block of a game is a tenth of its single lines.
    """
    since_ms, until_ms = between_ms
    touched = sa.select(_raw.subject).where(_raw.until_ms.between(since_ms, until_ms))
    end = sa.func.lag(_raw.first + _raw.lines).over(partition_by=(_raw.subject, _raw.source), order_by=_raw.id)
    blocks = sa.select(_raw.subject, _raw.source, _raw.first, end.label("expected"))
    quiet = blocks.where(_raw.subject.in_(touched), _raw.until_ms <= until_ms).subquery()
    query = sa.select(quiet.c.subject, quiet.c.source).where(quiet.c.first == quiet.c.expected).limit(1)
    found = connection.execute(query).first()
    if found is None:
        return False
    subject, source = found
    _merge(connection, str(subject), str(source), until_ms)
    return True


def _merge(connection: sa.Connection, subject: str, source: str, until_ms: int) -> None:
    rows = connection.execute(
        sa.select(_raw.id, _raw.first, _raw.lines, _raw.until_ms, _raw.data)
        .where(_raw.subject == subject, _raw.source == source, _raw.until_ms <= until_ms)
        .order_by(_raw.id)
    ).all()
    runs: list[list[sa.Row[Any, Any, Any, Any, Any]]] = []
    for row in rows:
        if runs and row.first == runs[-1][-1].first + runs[-1][-1].lines:
            runs[-1].append(row)
        else:
            runs.append([row])
    for run in runs:
        if len(run) > 1:
            # The first block keeps its place, so that the order of ids stays the order of lines.
            values = {
                "lines": sum(row.lines for row in run),
                "until_ms": run[-1].until_ms,
                "data": pack(line for row in run for line in unpack(row.data)),
            }
            connection.execute(sa.update(schema.raw).where(_raw.id == run[0].id).values(values))
            connection.execute(sa.delete(schema.raw).where(_raw.id.in_([row.id for row in run[1:]])))
