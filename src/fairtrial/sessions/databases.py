"""Looking into the databases of agents that run, without being noticed.

Nothing is ever written: not to the database, and no file beside it.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, TypeAlias

Connection: TypeAlias = sqlite3.Connection

MAGIC: Final = b"SQLite format 3\0"
"""How such a database begins."""
_PATIENCE_S: Final = 2.0


@contextmanager
def looked_into(path: Path) -> Iterator[Connection]:
    """Give a connection that cannot write, whose texts are bytes.

    While somebody has the database open it is read beside them, which never keeps them from
    writing. When nobody has, it is read as it stands, since opening it otherwise would make files.

    Raises:
        OSError: it cannot be read, or is no such database.
    """
    if not path.is_file():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
    log = path.with_name(f"{path.name}-wal")
    mode = "mode=ro" if log.exists() else "immutable=1"
    try:
        address = f"{path.absolute().as_uri()}?{mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_S)) as connection:
            connection.text_factory = bytes
            yield connection
    except (sqlite3.Error, OverflowError, UnicodeError) as error:
        # Of a damaged one not even the message may be text.
        raise OSError(errno.EIO, f"the database cannot be read: {error}", str(path)) from error


def tables(path: Path) -> list[str]:
    """Return the names of the tables of a database.

    Raises:
        OSError: it cannot be read, or is no such database.
    """
    with looked_into(path) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [row[0].decode("utf-8", "replace") for row in rows]
