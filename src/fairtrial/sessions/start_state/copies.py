"""The copies of files that Claude Code puts aside before its first edit of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from fairtrial.model.session import Session

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}@v1")
_LARGEST: Final = 32 * 1024 * 1024


class Copies:
    """Reads the copies of a session; they lie beside its transcript until they are cleaned up."""

    def __init__(self, session: Session) -> None:
        self._folder: Path | None = None
        if session.agent == "claude-code" and session.files:
            projects = Path(session.files[0]).parent.parent
            if projects.name == "projects":
                self._folder = projects.parent / "file-history" / session.native_id

    def read(self, name: str) -> bytes | None:
        """Return a copy; None when it is not there any more."""
        if self._folder is None or not _NAME.fullmatch(name):
            return None
        path = self._folder / name
        try:
            return path.read_bytes() if path.stat().st_size <= _LARGEST else None
        except OSError:
            return None
