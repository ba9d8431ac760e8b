"""Options that choose rows of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Rows:
    """A page of rows."""

    where: str | None = option(None, short="-w", metavar="FILTER")
    """List the rows that this filter fits, instead of the summary: `is:failed`, `tag = billing`,
    `score.exact < 0.8`, `is:regressed and cost > 0.1`"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """With --where: most rows to list"""
    after: str | None = option(None, metavar="ROW")
    """With --where: only rows after this one, as `next` and the last line of a page give it"""
