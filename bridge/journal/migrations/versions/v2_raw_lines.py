"""The platform's own lines, compressed, beside the events that came of them."""

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    op.create_table(
        "raw",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("first", sa.Integer, nullable=False),
        sa.Column("lines", sa.Integer, nullable=False),
        sa.Column("after", sa.BigInteger, nullable=False),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_index("raw_by_subject", "raw", ["subject", "id"])
    # v0.1.0 reads its version here, and then says that it cannot read this file.
    op.execute("UPDATE meta SET value = '2' WHERE name = 'schema'")
