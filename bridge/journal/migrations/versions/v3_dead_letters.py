"""What a sink could not be given for a day: kept until it is sent again or thrown away."""

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    op.create_table(
        "dead_letter",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("sink", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("time_ms", sa.BigInteger, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
    )
    op.execute("UPDATE meta SET value = '3' WHERE name = 'schema'")
