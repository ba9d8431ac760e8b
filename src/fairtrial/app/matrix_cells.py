"""From a matrix spec to the arms of one experiment, the baseline first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from fairtrial.app.matrix_options import Matrix
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.task_arms import GivenArm
from fairtrial.engine.cells import Cell, cells
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.query.values import age_s
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.fields import options_of

ALL: Final = "all"
NONE: Final = "none"
REUSED_FOR: Final = "7d"
_HOW: Final = "see the cells with: fairtrial exp run SPEC --plan"


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells that a request runs.

    Attributes:
        cells: The baseline first.
        reused: Names of those whose earlier trials are copied.
        max_age_s: How many seconds ago such a trial may have started.
    """

    cells: tuple[Cell, ...]
    reused: tuple[str, ...]
    max_age_s: float

    def facts(self, now: datetime) -> dict[str, Json]:
        """Return what an experiment keeps of its cells beside its arms."""
        told: dict[str, Json] = {"cells": {cell.name: dict(cell.changes) for cell in self.cells}}
        if self.reused:
            since = now - timedelta(seconds=self.max_age_s)
            told["reuse"] = {"cells": list(self.reused), "since": since.isoformat()}
        return told


def cells_given(request: Request) -> Cells | None:
    """Return the cells of a matrix spec; None for any other.

    Raises:
        UsageError: a cell makes no sense or is unknown, or an option does not fit.
    """
    options = request.matrix
    if not options.matrix and not options.variants:
        _refuse_alone(options)
        return None
    where = str(request.spec) if request.spec else "matrix"
    if request.design.arms:
        raise UsageError("both a matrix and arms are given", where=where, fix="leave one out")
    if request.recording.replay is not None:
        raise UsageError(
            "--replay and a matrix cannot be combined",
            where=where,
            why="a replay compares two arms: the recorded configuration, as its control, and yours",
            fix="replay one cell at a time: give its task to fairtrial exp run --task, without "
            "the matrix",
        )
    if request.task is None:
        raise UsageError(
            "a matrix changes fields of a task, and there is none",
            where=where,
            fix="add 'task' to the spec",
        )
    found = cells(request.task, options.matrix or {}, options.variants, where)
    found = _baseline_first(found, options.baseline_cell, where)
    chosen = _chosen(found, options.cells)
    for name in options.reuse:
        if name not in (ALL, NONE):
            _check_runs(_named(found, name, "--reuse"), chosen)
    return Cells(chosen, _reused(chosen, options.reuse), _max_age(options))


def cell_arms(found: Cells, folder: Path, where: str) -> tuple[GivenArm, ...]:
    """Return the cells as arms, whose relative paths all start at the spec's folder."""
    return tuple(
        GivenArm(cell.name, cell.task, folder, f"{where}, cell {cell.name}") for cell in found.cells
    )


def _refuse_alone(options: Matrix) -> None:
    if options.matrix is not None:
        fix = "give a field of the task its values, the baseline's first"
        raise UsageError("'matrix' names no field", fix=fix)
    for option in options_of(Matrix):
        if getattr(options, option.name) != option.default and option.name != "variants":
            raise UsageError(
                f"{option.flag} has no effect without a matrix",
                fix="add 'matrix' or 'variants' to the spec",
            )


def _baseline_first(found: Sequence[Cell], name: str | None, where: str) -> tuple[Cell, ...]:
    if name is None:
        return tuple(found)
    first = _named(found, name, f"{where}: baseline_cell")
    return (first, *(cell for cell in found if cell is not first))


def _chosen(found: tuple[Cell, ...], names: Sequence[str]) -> tuple[Cell, ...]:
    if not names:
        chosen = found
    else:
        wanted = {_named(found, name, "--cell").name for name in names} | {found[0].name}
        chosen = tuple(cell for cell in found if cell.name in wanted)
    if len(chosen) < 2:
        raise UsageError(
            f"only the baseline cell {found[0].name!r} is left to run",
            fix="name another cell, or leave --cell out"
            if names
            else "give a field of 'matrix' a second value, or add 'variants'",
        )
    return chosen


def _named(found: Sequence[Cell], name: str, where: str) -> Cell:
    known = {cell.name: cell for cell in found}
    if name not in known:
        raise UsageError(unknown_name(name, known, "cell "), where=where, fix=_HOW)
    return known[name]


def _reused(chosen: Sequence[Cell], names: Sequence[str]) -> tuple[str, ...]:
    if ALL in names:
        return tuple(cell.name for cell in chosen)
    return tuple(dict.fromkeys(name for name in names if name != NONE))


def _check_runs(cell: Cell, chosen: Sequence[Cell]) -> None:
    if cell not in chosen:
        raise UsageError(
            f"--reuse names the cell {cell.name!r}, which does not run",
            fix=f"name it with --cell, too, or leave it out of --reuse; {_HOW}",
        )


def _max_age(options: Matrix) -> float:
    text = options.reuse_max_age
    if text is not None and not options.reuse:
        raise UsageError("--reuse-max-age has no effect without --reuse", fix="add --reuse all")
    found = age_s(REUSED_FOR if text is None else text)
    if found is None:
        raise UsageError(
            f"{text!r} is no age", where="--reuse-max-age", fix="write it like 30m, 12h, 7d or 2w"
        )
    return found
