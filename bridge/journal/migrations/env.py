"""Run by alembic: the upgrade's steps, in the transaction of the connection that is handed in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
