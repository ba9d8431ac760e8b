"""Numbers of transcripts, which may be anything."""

from __future__ import annotations

import math
from typing import Any, Final

_MOST: Final = 2**52


def count(value: Any) -> int | None:
    """Return a number of things; None when it is no such number, e.g. negative or endless."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST or value != int(value):
        return None
    return int(value)


def amount(value: Any) -> float | None:
    """Return an amount of money; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST and math.isfinite(value) else None
