"""Options of `prune`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Remove what is old for good: sessions, calls, outputs, kept answers, snapshots.

    WHAT is any of: sessions, calls (recorded model calls of no experiment), recordings (those of
    experiments, which replays need), outputs (what trials put out, and every text that quotes it;
    verdicts, scores and sums stay), cache (kept answers of models), snapshots (of repositories),
    leftovers (copies of the store from before a migration, the log of crashes), or all. What is
    removed is overwritten on the disk. Agents' own files stay as they are.
    """

    what: tuple[str, ...] = option((), positional=True, metavar="WHAT")
    """What to remove; see above"""
    older_than: str | None = option(None, metavar="TIME")
    """Remove what is older, e.g. 90d, 12h or 0s; answers count from their last use"""
    keep: Annotated[int, Meta(ge=0)] | None = option(None, metavar="N")
    """Keep the newest so many of each, however old they are"""
    dry_run: bool = option(default=False)
    """Only say what would be removed"""
    yes: bool = option(default=False, short="-y")
    """Remove it, however much it is"""


EXAMPLES = (
    "fairtrial prune all --older-than 90d --dry-run",
    "fairtrial prune sessions calls --older-than 90d --yes",
    "fairtrial prune outputs --keep 50 --yes --json",
)
