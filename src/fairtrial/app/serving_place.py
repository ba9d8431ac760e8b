"""Where pages are served from a store, so that other programs can link to them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FILE = "serving.json"


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """Tell where pages are served while the block runs; of several servers, the newest."""
    file = home / _FILE
    own = {"url": url, "pid": os.getpid()}
    with suppress(OSError):  # without it there are no links to pages, and all else works
        part = file.with_name(f"{_FILE}.{os.getpid()}")
        part.write_text(json.dumps(own), encoding="utf-8")
        part.replace(file)
    try:
        yield
    finally:
        if _read(file) == own:
            file.unlink(missing_ok=True)


def served_at(home: Path) -> str | None:
    """Return the address of the pages of a store; None when nothing serves them."""
    told = _read(home / _FILE)
    url, pid = told.get("url"), told.get("pid")
    if not isinstance(url, str) or not isinstance(pid, int) or pid <= 0:
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None  # it was killed, and could not take its word back
    except PermissionError:
        pass  # another user's
    return url


def _read(file: Path) -> dict[str, object]:
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
