"""Options of a spec that holds a matrix of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Matrix:
    """Which configurations of one task run, and which of their trials need not."""

    matrix: Mapping[str, tuple[Any, ...]] | None = option(None, hidden=True)
    """Values by the field of the task that they set (`a.b` for a field in a field): every value is
    crossed with those of the other fields, and each combination is a cell. The first of each makes
    the baseline"""
    variants: tuple[Mapping[str, Any], ...] = option((), hidden=True)
    """Further cells, each with a `name` and the fields of the task that it sets; without a matrix
    the baseline is the task as it stands, cell `base`"""
    baseline_cell: str | None = option(None, hidden=True)
    """The cell that all others are compared with"""
    plan: bool = option(default=False)
    """With a matrix spec: print the cells and what each changes, check them, and run nothing"""
    cells: tuple[str, ...] = option((), flag="--cell", metavar="NAME")
    """With a matrix spec: run this cell; the baseline runs in any case"""
    reuse: tuple[str, ...] = option((), metavar="CELL|all")
    """With a matrix spec: copy the finished trials of this cell, or of all, that an earlier
    experiment has of the same case, task, graders, trial number and time limit, instead of running
    them again (default: none)"""
    reuse_max_age: str | None = option(None, metavar="AGE")
    """With --reuse: only trials that started this recently: 30m, 12h, 7d, 2w (default: 7d)"""
