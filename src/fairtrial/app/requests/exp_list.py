"""Options of `exp list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List experiments, newest first.

    Flips are the cases that an experiment fixed (+) and broke (−) against its baseline; see
    `fairtrial exp compare EXPERIMENT`. `exp show` says why there are none.
    A filter compares fields, names properties or searches for text, joined by and, or, not and
    brackets: `status = done and score.exact < 0.8`, `is:flaky or cost > 1`, `created > 14d`.
    """

    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only experiments that this filter fits"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """Most rows to list"""
    before: str | None = option(None, metavar="ID")
    """Only experiments after this one in the list: the id of the last row of the page before"""
    sort: Literal["newest", "oldest", "name", "cost", "failed", "pass_rate"] = option("newest")
    """Which come first: by when they began, by name, the dearest, those with the most failed
    trials, or those with the lowest pass rate"""


EXAMPLES = (
    "fairtrial exp list",
    "fairtrial exp list -n 100 --json",
    "fairtrial exp list --sort pass_rate",
    'fairtrial exp list --where "score.exact < 0.8 and environment = ci"',
)
