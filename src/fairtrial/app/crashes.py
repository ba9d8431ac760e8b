"""Where the tracebacks of defects are kept."""

from __future__ import annotations

import traceback
from pathlib import Path


def crash_log(path: Path, error: BaseException) -> str:
    """Append an error's traceback to a file, and return its path."""
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        traceback.print_exception(error, file=file)
    return str(path)
