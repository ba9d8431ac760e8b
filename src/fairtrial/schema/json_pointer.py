"""JSON pointers (RFC 6901): which part of a document is meant."""

from __future__ import annotations

import re

from fairtrial.model.json import Json

_INDEX = re.compile(r"0|[1-9]\d*", re.ASCII)
_BAD_ESCAPE = re.compile(r"~(?![01])")


def parse_pointer(text: str) -> tuple[str, ...]:
    """Return the steps of a pointer; the empty pointer, the whole document, has none.

    Raises:
        ValueError: it is no pointer; the message says why.
    """
    if text and not text.startswith("/"):
        raise ValueError("a JSON pointer starts with '/', e.g. /choices/0/message/content")
    if _BAD_ESCAPE.search(text):
        raise ValueError("in a JSON pointer, '~' is written ~0 and '/' in a name ~1")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def resolve_pointer(document: Json, steps: tuple[str, ...]) -> Json:
    """Return the part of a document that a pointer leads to.

    Raises:
        LookupError: it leads nowhere; the message says where it ends.
    """
    here = document
    for depth, step in enumerate(steps):
        if isinstance(here, dict) and step in here:
            here = here[step]
        elif isinstance(here, list) and _INDEX.fullmatch(step) and int(step) < len(here):
            here = here[int(step)]
        else:
            raise LookupError(f"there is no {step!r} in {_describe(here, steps[:depth])}")
    return here


def _describe(value: Json, steps: tuple[str, ...]) -> str:
    place = "/" + "/".join(steps) if steps else "the document"
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:10])
        return f"{place}, an object with {keys}" if keys else f"{place}, an empty object"
    if isinstance(value, list):
        return f"{place}, a list of {len(value)}"
    return f"{place}, which is no object or list"
