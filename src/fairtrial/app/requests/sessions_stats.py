"""Options of `sessions stats`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Sum sessions up by week and agent: how many, how many flagged and with what, tokens, cost."""

    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only sessions that this filter fits; see `fairtrial sessions list`"""
    since: str | None = option(None, metavar="TIME")
    """Only sessions that ended since then: 2026-11-29, or an age such as 90d"""
    plot: Path | None = option(None, metavar="FILE")
    """Draw the sessions of each week to a file, .svg or .png"""


EXAMPLES = (
    "fairtrial sessions stats --since 90d",
    'fairtrial sessions stats --where "repo = shop" --plot weeks.svg',
)
