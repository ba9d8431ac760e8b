"""Options of `calls list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List recorded model calls, newest first.

    A filter compares fields, names properties or searches for text, joined by and, or, not and
    brackets: `is:failed and model ~ haiku`, `cost > 0.1 or duration > 30`, `started > 1d`.
    """

    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only calls that this filter fits"""
    session: str | None = option(None, metavar="SESSION")
    """Only calls of this session: its id, or `latest`"""
    model: str | None = option(None, metavar="MODEL")
    """Only calls of this model"""
    failed: bool = option(default=False)
    """Only calls without a good answer: an error, none at all, or a part of one"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """Most rows to list"""
    before: str | None = option(None, metavar="ID")
    """Only calls older than this one: the id of the last row of the page before"""


EXAMPLES = (
    "fairtrial calls list",
    "fairtrial calls list --session latest",
    'fairtrial calls list --where "is:failed and started > 1d"',
    "fairtrial calls list --failed -n 100 --json",
)
