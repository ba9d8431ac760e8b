"""Options of `harness diff`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show what an edit of AGENTS.md, a rule or a skill changes.

    Without A and B it is what `exp ab` would try: your uncommitted edits against the last commit,
    or the last commit that changed the harness against the version before it.
    """

    a: str | None = option(None, positional=True, metavar="FILE|DIR|git:REV|BUNDLE|none")
    """The baseline (default: what the edit began with)"""
    b: str | None = option(None, positional=True, metavar="FILE|DIR|git:REV|BUNDLE|none")
    """The candidate; a file replaces the file of the same path in A (default: the repository's
    files as they are)"""


EXAMPLES = (
    "fairtrial harness diff",
    "fairtrial harness diff git:main",
    "fairtrial harness diff git:HEAD ./drafts/AGENTS.md --json",
)
