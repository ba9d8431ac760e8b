"""Private copies of JSON values that went through a user's code."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fairtrial.model.json import Json

_DEEPEST = 200
"""Levels of nesting: far more than real data has, far fewer than would exhaust the stack."""
_WIDEST = 1024
"""Bits of an integer: as many as a float's range has."""


class NotJsonError(Exception):
    """A value is no JSON value; `str()` says what is wrong and where in the value."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = ""

    def __str__(self) -> str:
        return f"{self.problem} at {self.path}" if self.path else self.problem


def plain_json(value: object, depth: int = 0) -> Json:
    """Return a copy of a JSON value that shares no list or dict with it.

    Tuples become lists; subclasses of str, int and float (an enum, a NumPy float) their base.

    Raises:
        NotJsonError: it holds something that JSON has no place for.
    """
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return _number(value)
    if depth == _DEEPEST:
        raise NotJsonError(f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, list | tuple):
        return [_part(item, index, depth) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_key(key): _part(item, key, depth) for key, item in value.items()}
    raise NotJsonError(f"{type(value).__module__}.{type(value).__qualname__} is no JSON value")


def _part(value: object, name: object, depth: int) -> Json:
    try:
        return plain_json(value, depth + 1)
    except NotJsonError as error:
        error.path = f"[{name!r}]{error.path}" if depth < 10 else "[…]"
        raise


def _text(value: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise NotJsonError(f"a text with half a character (offset {error.start})") from None
    return value if type(value) is str else str.__str__(value)


def _number(value: float) -> int | float:
    if isinstance(value, int):
        if value.bit_length() > _WIDEST:
            raise NotJsonError(f"an integer of more than {_WIDEST} bits")
        return int(value)
    if not math.isfinite(value):
        raise NotJsonError(f"{value} is no JSON number")
    return float(value)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJsonError(f"the key {key!r} is no text")
    return _text(key)
