"""Which exception it was, and at which line of the user's own code."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Final

from fairtrial.model.wording import excerpt

_OURS: Final = str(Path(__file__).resolve().parents[1])
_INSTALLED: Final = tuple(
    sysconfig.get_path(part) for part in ("stdlib", "platstdlib", "purelib", "platlib")
)


def blame(error: BaseException) -> str:
    """Return an exception's class, message and the innermost line of the user's own code."""
    try:
        message = excerpt(str(error)) if str(error) else ""
    except Exception:  # noqa: BLE001  # a broken __str__ must not hide which error it was
        message = "(its message cannot be shown)"
    kind = type(error)
    plain = kind.__module__ in ("builtins", "__main__")
    name = kind.__qualname__ if plain else f"{kind.__module__}.{kind.__qualname__}"
    place = _innermost_line(error)
    return name + (f": {message}" if message else "") + (f" ({place})" if place else "")


def _innermost_line(error: BaseException) -> str | None:
    places = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith((_OURS, "<frozen"))
    ]
    own = [place for place in places if not place[0].co_filename.startswith(_INSTALLED)]
    for code, line in reversed(own or places):
        return f"{_short(code.co_filename)}:{line} in {code.co_name}"
    return None


def _short(file: str) -> str:
    # As it is imported: reasons are short, and an absolute path would fill them.
    inside = [
        folder for folder in map(str, sys.path) if folder and Path(file).is_relative_to(folder)
    ]
    return str(Path(file).relative_to(max(inside, key=len))) if inside else file
