"""Running the migrations inside a transaction. Importing this module imports Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, migrations: Path) -> None:
    """Bring the schema to the newest version, in the open transaction of a connection."""
    config = Config()
    # Alembic's options take %-placeholders, so one in the path is doubled.
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
