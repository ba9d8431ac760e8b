"""The cells of a matrix: one task, and what each cell changes in it."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json, canonical_json
from fairtrial.model.wording import excerpt

MOST_CELLS: Final = 100
"""More arms than that against one baseline leave no interval worth reading."""

_LONGEST_VALUE: Final = 24
_LONGEST_NAME: Final = 200
_DEEPEST: Final = 64
BASE: Final = "base"
"""The cell of the task as it stands, when only variants are given."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration of a matrix.

    Attributes:
        name: Unique; what reports and `--cell` call it.
        changes: What it sets, by the path of the field in the task.
        task: The whole task as JSON.
    """

    name: str
    changes: Mapping[str, Json]
    task: Mapping[str, Json]


def cells(
    task: Mapping[str, Json],
    matrix: Mapping[str, Sequence[Json]],
    variants: Sequence[Mapping[str, Json]],
    where: str,
) -> tuple[Cell, ...]:
    """Return the cells of a matrix, the baseline first.

    Every value of every field of `matrix` is crossed with those of the others; the first value of
    each makes the baseline. Variants stand beside them, one cell each; without a matrix the
    baseline is the task as it stands.

    Args:
        task: What all cells start from.
        matrix: Values by the path of a field in the task, with dots between names.
        variants: `{"name": NAME, PATH: VALUE, …}` each.
        where: What they come from, for error messages.

    Raises:
        UsageError: a path leads into a value, two cells are the same or have one name, or there
            are too many.
    """
    _check(matrix, where)
    found = [Cell(BASE, {}, task)]
    if matrix:
        found = [_cell(task, changes, None, where) for changes in _crossed(matrix)]
    for index, variant in enumerate(variants, start=1):
        changes = {path: value for path, value in variant.items() if path != "name"}
        found.append(_cell(task, changes, _name_of(variant, f"{where}: variants[{index}]"), where))
    _check_distinct(found, where)
    return tuple(found)


def _check(matrix: Mapping[str, Sequence[Json]], where: str) -> None:
    for path, values in matrix.items():
        if not values:
            raise UsageError(
                f"matrix field {path!r} has no value",
                where=where,
                fix="list the values to try, the baseline's first, or leave the field out",
            )
    count = math.prod(len(values) for values in matrix.values())
    if count > MOST_CELLS:
        raise UsageError(
            f"the matrix has {count:,} cells, at most {MOST_CELLS} can be compared",
            where=where,
            fix="vary fewer fields at a time",
        )


def _crossed(matrix: Mapping[str, Sequence[Json]]) -> list[dict[str, Json]]:
    return [dict(zip(matrix, values, strict=True)) for values in product(*matrix.values())]


def _cell(
    task: Mapping[str, Json], changes: Mapping[str, Json], name: str | None, where: str
) -> Cell:
    if not changes:
        fix = "set a field of the task in it, or leave it out"
        raise UsageError(f"variant {name!r} changes nothing", where=where, fix=fix)
    changed = copy.deepcopy(dict(task))
    for path, value in changes.items():
        _set(changed, path, value, where)
    return Cell(name or ",".join(_label(*item) for item in changes.items()), changes, changed)


def _set(task: dict[str, Json], path: str, value: Json, where: str) -> None:
    *parents, last = path.split(".")
    if not all((*parents, last)) or len(parents) >= _DEEPEST:
        what = f"{excerpt(repr(path))} is no path of a field"
        raise UsageError(what, where=where, fix="write it like a.b")
    inner = task
    for depth, name in enumerate(parents, start=1):
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise UsageError(
                f"{path!r} leads into {'.'.join(parents[:depth])!r}, which is no object",
                where=where,
            )
    inner[last] = value


def _label(path: str, value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    if len(text) > _LONGEST_VALUE:
        text = text[: _LONGEST_VALUE - 1] + "…"
    return f"{path.rpartition('.')[2]}={text}"


def _name_of(variant: Mapping[str, Json], where: str) -> str:
    name = variant.get("name")
    printable = isinstance(name, str) and name.strip() and name.isprintable()
    if not printable or len(str(name)) > _LONGEST_NAME:
        what = f"a variant needs a 'name': one printable line of at most {_LONGEST_NAME} characters"
        raise UsageError(what, where=where, fix='write it like {"name": "brief", "a.b": VALUE}')
    return str(name)


def _check_distinct(found: Sequence[Cell], where: str) -> None:
    names: dict[str, Cell] = {}
    tasks: dict[bytes, str] = {}
    for cell in found:
        if cell.name in names:
            fix = "give the cells names: write them as variants"
            raise UsageError(f"two cells are called {cell.name!r}", where=where, fix=fix)
        names[cell.name] = cell
        content = canonical_json(cell.task)
        if content in tasks:
            raise UsageError(
                f"cells {tasks[content]!r} and {cell.name!r} are the same task",
                where=where,
                fix="leave one out; to learn how much differs when nothing does: fairtrial exp aa",
            )
        tasks[content] = cell.name
    if len(found) > MOST_CELLS:
        raise UsageError(f"{len(found):,} cells, at most {MOST_CELLS} can be compared", where=where)
