"""Options of `cache prune`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Forget kept answers of models: long unused ones, or the longest unused beyond a size.

    A forgotten answer is asked for again, and costs again, when its question comes up. The results
    of experiments stay as they are.
    """

    older_than: str | None = option(None, metavar="TIME")
    """Forget answers that were not used for so long, e.g. 30d, 12h or 90m; uses are noted to the
    hour"""
    max_size: str | None = option(None, metavar="SIZE")
    """Then forget the longest unused ones until the rest takes at most so much, e.g. 1GB, 500MB or
    0 for all of them"""


EXAMPLES = (
    "fairtrial cache prune --older-than 30d",
    "fairtrial cache prune --older-than 30d --max-size 1GB",
    "fairtrial cache prune --max-size 0 --json",
)
