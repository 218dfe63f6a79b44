"""The journal's tables as they are now; `migrations/` leads here from every older file."""

from collections.abc import Collection
from typing import Final

import sqlalchemy as sa

VERSION: Final = "3"
KNOWN: Final = ("1", "2", VERSION)
PROGRAM: Final = "kirichess-bridge"

tables = sa.MetaData()

event = sa.Table(
    "event",
    tables,
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.Text, nullable=False, unique=True),
    sa.Column("time_ms", sa.BigInteger, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("account", sa.Text, nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("key", sa.Text, unique=True),
    sa.Index("event_by_subject", "subject", "seq"),
    sqlite_autoincrement=True,
)

cursor = sa.Table(
    "cursor",
    tables,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)

# The lines of a game's streams as the platform sent them, in blocks: see `raw`.
raw = sa.Table(
    "raw",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("first", sa.Integer, nullable=False),
    sa.Column("lines", sa.Integer, nullable=False),
    sa.Column("after", sa.BigInteger, nullable=False),
    sa.Column("until_ms", sa.BigInteger, nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index("raw_by_subject", "subject", "id"),
)

# What a sink could not be given for a day.
dead_letter = sa.Table(
    "dead_letter",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("sink", sa.Text, nullable=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("time_ms", sa.BigInteger, nullable=False),
    sa.Column("cause", sa.Text, nullable=False),
)

# Three rows: program, schema (VERSION) and journal (the uuid that makes event ids unique in the world).
meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

# One row, by which alembic knows where an upgrade starts; the same as `schema` in `meta`.
revision = sa.Table(
    "alembic_version",
    tables,
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def create(connection: sa.Connection, journal: str) -> None:
    """The tables, in an empty database."""
    tables.create_all(connection)
    values = {"program": PROGRAM, "schema": VERSION, "journal": journal}
    connection.execute(sa.insert(meta), [{"name": name, "value": value} for name, value in values.items()])
    connection.execute(sa.insert(revision).values(version_num=VERSION))


def read_meta(connection: sa.Connection, present: Collection[str]) -> dict[str, str] | None:
    """The rows of `meta`; None where the tables `present` are not a journal's."""
    if not {event.name, cursor.name, meta.name} <= set(present):
        return None
    found = {str(name): str(value) for name, value in connection.execute(sa.select(meta))}
    return found if found.get("program") == PROGRAM and {"schema", "journal"} <= found.keys() else None
