"""Catalogs of an older schema, as alembic lays them."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from indexer.library.bundled import migrations


def migrate(catalog: Path, verb: str, revision: str) -> None:
    """Bring a catalog to a revision: "upgrade" or "downgrade"."""
    config = Config()
    config.set_main_option("script_location", str(migrations()))
    engine = create_engine(f"sqlite:///{catalog}")
    with engine.begin() as connection:
        connection.execute(text("PRAGMA foreign_keys = ON"))
        config.attributes["connection"] = connection
        getattr(command, verb)(config, revision)
    engine.dispose()
