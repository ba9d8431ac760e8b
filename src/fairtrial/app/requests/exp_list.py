"""Options of `exp list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List experiments, newest first.

    Flips are the cases that an experiment fixed (+) and broke (−) against its baseline; see
    `fairtrial exp compare EXPERIMENT`. `exp show` says why there are none.
    """

    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """Most rows to list"""
    before: str | None = option(None, metavar="ID")
    """Only experiments older than this one: the id of the last row of the page before"""


EXAMPLES = ("fairtrial exp list", "fairtrial exp list -n 100 --json")
