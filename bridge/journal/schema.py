"""The journal's tables."""

from typing import Final

import sqlalchemy as sa

VERSION: Final = "1"
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

# Three rows: program, schema (VERSION) and journal (the uuid that makes event ids unique in the world).
meta = sa.Table(
    "meta",
    tables,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
