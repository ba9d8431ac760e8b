"""Options of `calls list`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List recorded model calls, newest first."""

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
    "fairtrial calls list --failed -n 100 --json",
)
