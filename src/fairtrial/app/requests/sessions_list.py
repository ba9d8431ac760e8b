"""Options of `sessions list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List captured sessions, the last ended first.

    A filter compares fields, names properties or searches for text, joined by and, or, not and
    brackets: `is:flagged and repo = shop`, `flag = looping or failures > 5`, `"race condition"`.
    """

    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only sessions that this filter fits"""
    since: str | None = option(None, metavar="TIME")
    """Only sessions that ended since then: 2026-11-29, or an age such as 14d"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """Most rows to list"""
    before: str | None = option(None, metavar="ID")
    """Only sessions that ended before this one: the id of the last row of the page before"""


EXAMPLES = (
    "fairtrial sessions list",
    'fairtrial sessions list --where "is:flagged and repo = shop" --since 14d',
    'fairtrial sessions list --where "agent = codex and cost > 1" -n 100 --json',
)
