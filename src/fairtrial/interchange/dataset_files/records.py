"""What every format module yields: an object and the line it starts at."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import TypeAlias

from fairtrial.interchange.dataset_files.json_text import BrokenJson
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json

Record: TypeAlias = tuple[int, dict[str, Json]]
"""The line a case starts at (from 1), and its keys and values as they stand in the file."""

_KINDS = {
    dict: "an object",
    list: "an array",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def kind_of(value: Json) -> str:
    """Return what a JSON value is, in words."""
    return _KINDS[type(value)]


def check_object(value: Json, where: str) -> None:
    """Refuse a case that is no object.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, dict):
        raise UsageError(
            f"a case must be an object, this is {kind_of(value)}",
            where=where,
            fix='write each case as {"input": …}',
        )


def broken(what: str, where: str, problem: BrokenJson) -> UsageError:
    """Return the error for JSON that cannot be read."""
    column = "" if problem.column is None else f" at column {problem.column}"
    return UsageError(what, where=where, why=problem.why + column)


def listed(names: Collection[str]) -> str:
    """Return names for a message, which stays readable when there are thousands."""
    shown = ", ".join(repr(name[:60]) for name in islice(names, 12))
    left = len(names) - 12
    return f"{shown} and {left} more" if left > 0 else shown
