"""JSON pointers (RFC 6901): which part of a document is meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairtrial.model.json import Json

_INDEX = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)
"""Python refuses to read integers of more than some thousand digits; no list is that long."""
_BAD_ESCAPE = re.compile(r"~(?![01])")


class LeadsNowhereError(LookupError):
    """A pointer leads to nothing; `str()` says where it ends.

    Attributes:
        pointer: The pointer to the first part that is not there.
    """

    def __init__(self, message: str, pointer: str) -> None:
        super().__init__(message)
        self.pointer = pointer


def parse_pointer(text: str) -> tuple[str, ...]:
    """Return the steps of a pointer; the empty pointer, the whole document, has none.

    Raises:
        ValueError: it is no pointer; the message says why.
    """
    if text and not text.startswith("/"):
        raise ValueError(
            f"{text!r} is no JSON pointer: it must start with '/', as in /choices/0/message"
        )
    if _BAD_ESCAPE.search(text):
        raise ValueError(
            f"{text!r} is no JSON pointer: '~' in a name is written ~0, and '/' in a name ~1"
        )
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def pointer_text(steps: Iterable[str | int]) -> str:
    """Return the pointer with these steps."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def resolve_pointer(document: Json, steps: tuple[str, ...]) -> Json:
    """Return the part of a document that a pointer leads to.

    Raises:
        LeadsNowhereError: nothing is there.
    """
    here = document
    for depth, step in enumerate(steps):
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and _INDEX.fullmatch(step) and int(step) < len(here):
            here = here[int(step)]
        else:
            raise LeadsNowhereError(
                f"there is no {step!r} in {_describe(here, steps[:depth])}",
                pointer_text(steps[: depth + 1]),
            )
    return here


def _describe(value: Json, steps: tuple[str, ...]) -> str:
    place = pointer_text(steps) or "the document"
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:10])
        return f"{place}, an object with {keys}" if keys else f"{place}, an empty object"
    if isinstance(value, list):
        return f"{place}, a list of {len(value)}"
    return f"{place}, which is no object or list"
