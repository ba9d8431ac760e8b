"""JSON as models and their servers write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NoReturn

import msgspec

from fairtrial.model.json import Json


class NoJsonError(ValueError):
    """A text is no JSON; `str()` says why."""


def read_json(data: bytes | str) -> Json:
    """Return the JSON value of a text.

    Half of a surrogate pair is let through: servers cut a text into pieces where they like, also
    inside an emoji. `whole_text` mends what was put together.

    Raises:
        NoJsonError: it is no JSON.
    """
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        return json.loads(data, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise NoJsonError(str(error)) from None


def whole_text(text: str) -> str:
    """Return a text that can be stored: pairs of surrogates joined, single ones replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def read_arguments(text: str) -> Json:
    """Return the arguments of a tool: a JSON object, or the text where it is none."""
    if not text.strip():
        return {}
    try:
        value = read_json(text)
    except NoJsonError:
        return whole_text(text)
    return value if isinstance(value, dict) else whole_text(text)


def mappings(value: Json) -> list[Mapping[str, Json]]:
    """Return the objects in a list; none when it is no list."""
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
