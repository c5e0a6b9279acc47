"""Run alembic on the connection that `indexer.catalog.database` hands over."""

from alembic import context

from indexer.catalog.database import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
