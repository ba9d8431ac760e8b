"""Options of `exp status`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show progress, ETA and cost of runs, and how to resume them.

    Works from another shell while a run goes on. Without an argument: every run that is not
    finished, newest first.
    """

    run: str | None = option(None, positional=True)
    """One experiment: its id, prefix or name"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(20, short="-n", metavar="N")
    """Most runs to list"""


EXAMPLES = ("fairtrial exp status", "fairtrial exp status exp_01JC3T6Z --json")
