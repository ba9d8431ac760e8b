"""What a written value means for a field."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from fairtrial.query.expression import Operator, Value
from fairtrial.query.vocabulary import Kind

_AGE: Final = re.compile(r"(\d{1,6}(?:\.\d+)?)(s|m|h|d|w|mo|y)", re.ASCII)
_UNIT_S: Final = {
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "w": 7 * 86_400.0,
    "mo": 30 * 86_400.0,
    "y": 365 * 86_400.0,
}
NONE: Final = "none"

_EQUALITY: Final = frozenset({Operator.EQUAL, Operator.NOT_EQUAL})
_ORDER: Final = frozenset({Operator.LESS, Operator.AT_MOST, Operator.MORE, Operator.AT_LEAST})
_CONTAINING: Final = frozenset({Operator.CONTAINS, Operator.NOT_CONTAINS})
OPERATORS: Final = {
    Kind.TEXT: _EQUALITY | _CONTAINING,
    Kind.WORD: _EQUALITY,
    Kind.NUMBER: _EQUALITY | _ORDER,
    Kind.INSTANT: _EQUALITY | _ORDER,
    Kind.BOOLEAN: _EQUALITY,
}
"""Which operators make sense for values of a kind."""


def age_s(text: str) -> float | None:
    """Return the seconds of an age such as `30m`, `14d` or `2w`; None when it is none.

    A month is 30 days, a year 365.
    """
    found = _AGE.fullmatch(text)
    return float(found[1]) * _UNIT_S[found[2]] if found else None


def value_of(text: str, kind: Kind, now: datetime) -> Value:
    """Return what a text means for a field.

    Args:
        text: What was written.
        kind: The field's kind.
        now: What ages count back from.

    Raises:
        ValueError: it means nothing for that kind; the message says what would.
    """
    match kind:
        case Kind.NUMBER:
            return _number(text)
        case Kind.INSTANT:
            return _instant(text, now)
        case Kind.BOOLEAN:
            return _boolean(text)
        case _:
            return text


def _number(text: str) -> float:
    plain = text.removeprefix("$").replace("_", "")
    scale = 1.0
    if plain.endswith("%"):
        plain, scale = plain[:-1], 0.01
    elif plain[-1:] in ("k", "K", "M"):
        plain, scale = plain[:-1], 1e6 if plain[-1] == "M" else 1e3
    try:
        number = float(plain) * scale
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is no number, such as 1, 0.8, 80% or 20k")
    return number


def _instant(text: str, now: datetime) -> datetime:
    age = age_s(text)
    try:
        if age is not None:
            return now - timedelta(seconds=age)
        moment = datetime.fromisoformat(text)
    except (OverflowError, ValueError):
        raise ValueError(
            f"{text!r} is no moment, such as 2026-11-29, 2026-11-29T14:00 or 14d (14 days ago)"
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _boolean(text: str) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() not in words:
        raise ValueError(f"{text!r} is neither yes nor no")
    return words[text.lower()]
