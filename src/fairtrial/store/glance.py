"""What a command must know to see that there is nothing to do, without the rest of the store."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

DATABASE_FILE = "fairtrial.db"


def known_files(database: Path) -> dict[str, tuple[int, int, int, int, int]] | None:
    """Return of each known file of a session inode, size, time of change, offset and version.

    None when there is no such database, or not one that tells it.
    """
    if not database.exists():
        return None
    try:
        # Read only: opening a store is another one's business.
        address = f"{database.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            rows = connection.execute(
                'SELECT path, inode, size, changed_ns, "offset", version FROM session_file'
            )
            return {row[0]: row[1:] for row in rows}
    except sqlite3.Error:
        return None
