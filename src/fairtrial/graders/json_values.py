"""JSON values: reading, pointing into, and comparing them as JSON does."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

from fairtrial.graders.wording import expected_got
from fairtrial.model.errors import GraderError
from fairtrial.model.json import Json

Place: TypeAlias = "tuple[Place, str | int] | None"
"""Where in a value: the place around it and the key in that; None for the whole."""

_FENCE = "```"


def read_json(text: str) -> Json:
    """Return the value that a text holds, alone or as the one fenced block of a Markdown text.

    Raises:
        ValueError: it is no JSON; NaN and infinities are none.
        GraderError: it is nested too deeply to be read.
    """
    try:
        return json.loads(_unfenced(text.strip()), parse_constant=_refuse)
    except RecursionError:
        raise GraderError("the JSON is nested too deeply to be read") from None


def first_difference(expected: Json, got: Json, *, subset: bool = False) -> str | None:
    """Return a sentence about the first place where two values differ, or None.

    Numbers are equal when their values are, `1` and `1.0` included; a boolean equals no number.

    Args:
        expected: What is wanted.
        got: What came.
        subset: Objects of `got` may have further keys.
    """
    # A stack of its own: hostile outputs are nested deeper than Python calls may be.
    stack: list[tuple[Place, Json, Json]] = [(None, expected, got)]
    while stack:
        place, want, have = stack.pop()
        if isinstance(want, dict) and isinstance(have, dict):
            problem = _keys_differ(place, want, have, subset=subset)
            if problem:
                return problem
            stack.extend(((place, key), want[key], have[key]) for key in reversed(want))
        elif isinstance(want, list) and isinstance(have, list):
            if len(want) != len(have):
                return _at(place, f"expected {len(want)} elements, got {len(have)}")
            last = len(want) - 1
            stack.extend(
                ((place, last - i), w, h)
                for i, (w, h) in enumerate(zip(reversed(want), reversed(have), strict=True))
            )
        elif not _same_scalar(want, have):
            return _at(place, expected_got(want, have))
    return None


def pointer_parts(pointer: str) -> tuple[str, ...]:
    """Return the keys of a JSON pointer (RFC 6901).

    Raises:
        ValueError: it is none.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is no JSON pointer: it must start with '/'")
    return tuple(p.replace("~1", "/").replace("~0", "~") for p in pointer.split("/")[1:])


def resolve(value: Json, parts: tuple[str, ...]) -> Json:
    """Return what a pointer points to.

    Raises:
        LookupError: nothing is there; the message names the first part that leads nowhere.
    """
    place: Place = None
    for part in parts:
        place = (place, part)
        try:
            if isinstance(value, dict):
                value = value[part]
            elif isinstance(value, list) and re.fullmatch(r"0|[1-9][0-9]{0,17}", part):
                value = value[int(part)]
            else:
                raise KeyError(part)
        except LookupError:
            raise LookupError(f"nothing at {pointer_of(place)}") from None
    return value


def pointer_of(place: Place) -> str:
    """Return a place as a JSON pointer."""
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append("/" + str(key).replace("~", "~0").replace("/", "~1"))
    return "".join(reversed(parts))


def _unfenced(text: str) -> str:
    # By hand: a pattern with three repeats would take cubic time on a text of line ends.
    first, line_end, rest = text.partition("\n")
    if line_end and first.startswith(_FENCE) and rest.endswith(_FENCE):
        return rest.removesuffix(_FENCE)
    return text


def _keys_differ(
    place: Place, want: dict[str, Any], have: dict[str, Any], *, subset: bool
) -> str | None:
    missing = next((key for key in want if key not in have), None)
    if missing is not None:
        return f"nothing at {pointer_of((place, missing))}"
    extra = None if subset else next((key for key in have if key not in want), None)
    return None if extra is None else f"unexpected {pointer_of((place, extra))}"


def _same_scalar(want: Json, have: Json) -> bool:
    if isinstance(want, (list, dict)) or isinstance(have, (list, dict)):
        return False
    return isinstance(want, bool) == isinstance(have, bool) and bool(want == have)


def _at(place: Place, problem: str) -> str:
    return problem if place is None else f"at {pointer_of(place)}: {problem}"


def _refuse(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON number")
