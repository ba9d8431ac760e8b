"""JSON values: reading them, and comparing them as JSON does."""

from __future__ import annotations

from typing import Any, TypeAlias

from fairtrial.graders.wording import expected_got
from fairtrial.model.errors import GraderError
from fairtrial.model.json import Json
from fairtrial.schema.json_pointer import pointer_text
from fairtrial.schema.json_text import parse_json

Place: TypeAlias = "tuple[Place, str | int] | None"
"""Where in a value: the place around it and the key in that; None for the whole."""


def read_json(text: str) -> Json:
    """Return the value that a text holds, alone or as the one fenced block of a Markdown text.

    Raises:
        ValueError: it is no JSON; NaN and infinities are none.
        GraderError: it is nested too deeply to be read.
    """
    try:
        return parse_json(text)
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


def _keys_differ(
    place: Place, want: dict[str, Any], have: dict[str, Any], *, subset: bool
) -> str | None:
    missing = next((key for key in want if key not in have), None)
    if missing is not None:
        return f"nothing at {_pointer((place, missing))}"
    extra = None if subset else next((key for key in have if key not in want), None)
    return None if extra is None else f"unexpected {_pointer((place, extra))}"


def _same_scalar(want: Json, have: Json) -> bool:
    if isinstance(want, (list, dict)) or isinstance(have, (list, dict)):
        return False
    return isinstance(want, bool) == isinstance(have, bool) and bool(want == have)


def _at(place: Place, problem: str) -> str:
    return problem if place is None else f"at {_pointer(place)}: {problem}"


def _pointer(place: Place) -> str:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    return pointer_text(reversed(steps))
