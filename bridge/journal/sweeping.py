"""Housekeeping among the raw lines, in pieces so small that no commit waits long for one."""

from typing import Any

import sqlalchemy as sa
import zstandard

from bridge.journal import schema
from bridge.journal.raw import pack, unpack

AT_ONCE = 200
LATEST = 20_000

_raw = schema.raw.c


def forget_some(connection: sa.Connection, before_ms: int) -> bool:
    """Delete blocks whose last line came before `before_ms`; True if there may be more.

    Ids grow with time, so the oldest come first and no index by age is needed, which every commit would have to pay.
    The block of a long game may stay among them.
    """
    oldest = sa.select(_raw.id, _raw.until_ms).order_by(_raw.id).limit(AT_ONCE).subquery()
    old = sa.select(oldest.c.id).where(oldest.c.until_ms < before_ms)
    return connection.execute(sa.delete(schema.raw).where(_raw.id.in_(old))).rowcount > 0


def last_id(connection: sa.Connection, quiet_ms: int) -> int:
    """The newest of the latest blocks that is from before `quiet_ms`; 0 if there is none."""
    latest = sa.select(_raw.id, _raw.until_ms).order_by(_raw.id.desc()).limit(LATEST).subquery()
    query = sa.select(sa.func.max(latest.c.id)).where(latest.c.until_ms <= quiet_ms)
    return int(connection.execute(query).scalar() or 0)


def merge_some(connection: sa.Connection, after_id: int, quiet_ms: int, compressor: zstandard.ZstdCompressor) -> bool:
    """Make one block of the consecutive ones of one game and source; False if there is none to be done.

    Games are looked at which have a block after `after_id`, and of them the blocks from before `quiet_ms`. A line
    repeats most of the one before it, so one block of a game takes a tenth of the room of its single lines.
    """
    touched = sa.select(_raw.subject).where(_raw.id > after_id, _raw.until_ms <= quiet_ms)
    end = sa.func.lag(_raw.first + _raw.lines).over(partition_by=(_raw.subject, _raw.source), order_by=_raw.id)
    blocks = sa.select(_raw.subject, _raw.source, _raw.first, end.label("expected"))
    quiet = blocks.where(_raw.subject.in_(touched), _raw.until_ms <= quiet_ms).subquery()
    query = sa.select(quiet.c.subject, quiet.c.source).where(quiet.c.first == quiet.c.expected).limit(1)
    found = connection.execute(query).first()
    if found is None:
        return False
    subject, source = found
    _merge(connection, str(subject), str(source), quiet_ms, compressor)
    return True


def _merge(
    connection: sa.Connection, subject: str, source: str, quiet_ms: int, compressor: zstandard.ZstdCompressor
) -> None:
    rows = connection.execute(
        sa.select(_raw.id, _raw.first, _raw.lines, _raw.until_ms, _raw.data)
        .where(_raw.subject == subject, _raw.source == source, _raw.until_ms <= quiet_ms)
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
                "data": pack((line for row in run for line in unpack(row.data)), compressor),
            }
            connection.execute(sa.update(schema.raw).where(_raw.id == run[0].id).values(values))
            connection.execute(sa.delete(schema.raw).where(_raw.id.in_([row.id for row in run[1:]])))
