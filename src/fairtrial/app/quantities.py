"""Times and sizes as users write them: a number and a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from fairtrial.model.errors import UsageError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_BYTES = {
    "": 1,
    "B": 1,
    **{f"{unit}B": 1000**power for power, unit in enumerate("KMGT", start=1)},
    **{f"{unit}IB": 1024**power for power, unit in enumerate("KMGT", start=1)},
}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")
_LARGEST = 1e15
_LONGEST = 36_500
"""Days; a moment so long ago is still one of the calendar."""


def seconds_of(text: str, flag: str) -> float:
    """Return the seconds of a time such as `30d`.

    Raises:
        UsageError: it is none, or longer than a hundred years.
    """
    units = {**_SECONDS, "": None} if text.strip() == "0" else _SECONDS
    known = {k: v or 1 for k, v in units.items()}
    found = _quantity(text.lower(), known, flag, "30d, 12h or 90m")
    if found > _LONGEST * _SECONDS["d"]:
        raise UsageError(f"{flag} takes at most {_LONGEST}d, got {text!r}")
    return found


def bytes_of(text: str, flag: str) -> int:
    """Return the bytes of a size such as `1GB`; `GiB` counts by 1024.

    Raises:
        UsageError: it is none.
    """
    return math.floor(_quantity(text.upper(), _BYTES, flag, "1GB, 500MB or 0"))


def _quantity(text: str, units: Mapping[str, int], flag: str, examples: str) -> float:
    found = _QUANTITY.fullmatch(text)
    scale = None if found is None else units.get(found[2])
    if found is None or scale is None or float(found[1]) * scale > _LARGEST:
        known = ", ".join(unit for unit in units if unit)
        raise UsageError(
            f"{flag} takes a number with a unit ({known}), got {text!r}", fix=f"e.g. {examples}"
        )
    return float(found[1]) * scale
