"""Numbers of transcripts, which may be anything: none gets further that cannot be stored."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any, Final

import msgspec

from fairtrial.model.session import ApiTrouble, Result, SessionEvent, Usage
from fairtrial.model.task import Tokens

_MOST: Final = 2**52

Place = Annotated[int, msgspec.Meta(ge=-_MOST, le=_MOST)]
"""A number that a state holds; another one is left out of the record."""


def count(value: Any) -> int | None:
    """Return a number of things; None when it is no such number, e.g. negative or endless."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST or value != int(value):
        return None
    return int(value)


def amount(value: Any) -> float | None:
    """Return an amount, of money or of seconds; None when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST and math.isfinite(value) else None


def sound(event: SessionEvent) -> SessionEvent:
    """Return an event without the numbers that cannot be."""
    if isinstance(event, Usage):
        return _sound_usage(event)
    if isinstance(event, Result):
        code, took = event.exit_code, event.duration_s
        if code is not None and not (type(code) is int and -_MOST <= code <= _MOST):
            event = replace(event, exit_code=None)
        if took is not None and amount(took) is None:
            event = replace(event, duration_s=None)
    elif isinstance(event, ApiTrouble) and event.status is not None and count(event.status) is None:
        return replace(event, status=None)
    return event


def _sound_usage(event: Usage) -> Usage:
    told = event.tokens
    parts = (told.input, told.output, told.cache_read, told.cache_write, told.reasoning)
    if all(part is None or (type(part) is int and 0 <= part <= _MOST) for part in parts):
        return event
    return replace(event, tokens=Tokens(*(count(part) for part in parts)))
