"""Seeing that something was written, whichever process wrote it, without reading it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fairtrial.store.failures import translated


class ChangeWatch:
    """A number that changes whenever anything is committed. Used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with translated(path):
            address = f"{path.absolute().as_uri()}?mode=ro"
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)

    def number(self) -> int:
        """Return the number; it means nothing but that it differs from the one before.

        Raises:
            StoreError: the store cannot be read.
        """
        with translated(self._path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Watch no more."""
        self._connection.close()
