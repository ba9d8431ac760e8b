"""Options of `sessions export`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write a session as jsonl or markdown.

    jsonl has the session on its first line and one event on each line after it; markdown is the
    transcript as one reads it. The sessions that a filter chooses follow each other, the last ended
    first.
    """

    to: Literal["jsonl", "markdown"] = option(metavar="FORMAT")
    """jsonl or markdown"""
    session: str | None = option(None, positional=True)
    """Session id, prefix, agent's own id, latest or latest#-N"""
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Write all sessions that this filter fits; see `fairtrial sessions list`"""
    output: Path | None = option(None, short="-o", metavar="FILE")
    """File to write (default: standard output)"""


EXAMPLES = (
    "fairtrial sessions export latest --to markdown -o session.md",
    'fairtrial sessions export --where "is:flagged and ended > 7d" --to jsonl -o flagged.jsonl',
    "fairtrial sessions export ses_5rf4je --to jsonl | head -1",
)
