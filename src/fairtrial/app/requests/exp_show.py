"""Options of `exp show`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.app.file_options import Plot
from fairtrial.app.row_options import Rows
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Show an experiment: pass rate, graders, failures.

    An experiment is named by its id, a unique prefix of 6 or more characters, or its name (the
    newest of that name). With --where, list the rows that a filter fits.
    """

    experiment: str = option(positional=True)
    """Experiment id, prefix or name"""
    case: str | None = option(None, metavar="ID")
    """Show this case and every trial of it in full: input, output, scores and reasons"""
    rows: Rows = group(Rows)
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp show smoke",
    "fairtrial exp show smoke --case c17",
    'fairtrial exp show smoke --where "is:failed and score.exact < 0.8"',
    "fairtrial exp show exp_01JC3T6Z --json",
    "fairtrial exp show smoke --plot smoke.svg",
)
