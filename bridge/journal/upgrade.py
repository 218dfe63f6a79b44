"""Bring an older journal's tables up to date, by the steps in `migrations/`."""

from pathlib import Path

import sqlalchemy as sa

from bridge.journal import schema

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(connection: sa.Connection, version: str) -> None:
    """From schema `version` to ours, inside the caller's transaction."""
    # Only an old file needs alembic, and importing it takes longer than opening the journal.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    if not sa.inspect(connection).has_table(schema.revision.name):
        command.stamp(config, version)
    command.upgrade(config, schema.VERSION)
