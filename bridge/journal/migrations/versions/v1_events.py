"""The first journal: events, the sinks' cursors, and what the file is. Written by v0.1.0."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "event",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("time_ms", sa.BigInteger, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("key", sa.Text, unique=True),
        sqlite_autoincrement=True,
    )
    op.create_index("event_by_subject", "event", ["subject", "seq"])
    op.create_table(
        "cursor",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "meta",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
