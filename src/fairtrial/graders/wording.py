"""How values and texts are shown in reasons: short, whole where they can be, safe to print."""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import Any

from fairtrial.model.errors import GraderError
from fairtrial.model.json import Json
from fairtrial.model.wording import shown

_SHORT = 60
_BEFORE = 12
_AFTER = 28


def listed(values: list[str], total: int) -> str:
    """Return the first few of some texts, and how many of the total they are."""
    names = ", ".join(map(shown, values[:3])) + (", …" if len(values) > 3 else "")
    return f"{names} ({len(values)} of {total})"


def expected_got(expected: Json, got: Json) -> str:
    """Return the sentence for two values that differ."""
    if isinstance(expected, str) and isinstance(got, str):
        if len(expected) > _SHORT or len(got) > _SHORT:
            return _texts_differ(expected, got)
    elif isinstance(expected, str) != isinstance(got, str) and not _is_container(expected, got):
        return f"expected {_typed(expected)}, got {_typed(got)}"
    return f"expected {shown(expected)}, got {shown(got)}"


def text_of(output: Json) -> str:
    """Return an output as text: itself, nothing for null, else its JSON text.

    Raises:
        GraderError: it has no JSON text.
    """
    if isinstance(output, str):
        return output
    if output is None:
        return ""
    try:
        return json.dumps(output, ensure_ascii=False)
    except RecursionError:
        raise GraderError("the output is nested too deeply to be read as text") from None
    except (TypeError, ValueError) as error:
        raise GraderError(f"the output has no JSON text: {error}") from error


def common_prefix_length(a: str, b: str) -> int:
    """Return how many characters two texts have in common at their start."""
    # Slices are compared at memory speed, single characters are not: megabytes stay cheap.
    limit = min(len(a), len(b))
    return bisect_left(range(1, limit + 1), True, key=lambda n: a[:n] != b[:n])  # noqa: FBT003


def _texts_differ(expected: str, got: str) -> str:
    at = common_prefix_length(expected, got)
    if at == 0:
        return f"expected {shown(expected)}, got {shown(got)}"
    return (
        f"differs at character {at + 1}: expected {_window(expected, at)}, got {_window(got, at)}"
    )


def _window(text: str, at: int) -> str:
    start = max(0, at - _BEFORE)
    end = at + _AFTER
    return f"{'…' if start else ''}{text[start:end]!r}{'…' if end < len(text) else ''}"


def _is_container(*values: Any) -> bool:
    return any(isinstance(value, (list, dict)) for value in values)


def _typed(value: Json) -> str:
    return f"the text {shown(value)}" if isinstance(value, str) else shown(value)
