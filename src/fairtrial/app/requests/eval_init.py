"""Options of `eval init`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from fairtrial.app.drafting_options import Checking
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Draft eval tasks from sessions that went wrong, one a session.

    Without ids, the sessions of this repository with a flag of level warn, or that a limit ended,
    are taken, the last ended first. Each task gets the repository as it was before the session, its
    first prompt as the instruction, your verifier, and what the session changed as a near miss that
    the verifier must fail. Nothing that is there is overwritten: a second time adds what is new.
    """

    ids: tuple[str, ...] = option((), positional=True, metavar="SESSION")
    """Sessions to take, flagged or not: ids, prefixes, agents' own ids, latest or latest#-N"""
    sessions: bool = option(default=False)
    """Make the tasks of captured sessions"""
    named: tuple[str, ...] = option((), flag="--session", metavar="SESSION")
    """A session to take; the same as an id after --sessions"""
    since: str = option("14d", metavar="TIME")
    """Only sessions that ended since then: 2026-11-29, or an age such as 14d"""
    limit: Annotated[int, Meta(ge=1, le=1000)] = option(10, short="-n", metavar="N")
    """Most tasks to draft"""
    where: str | None = option(None, short="-w", metavar="FILTER")
    """Only sessions that this filter fits, too; see `fairtrial sessions list`"""
    repo: Path | None = option(None, metavar="DIR")
    """The repository that the sessions are of, and that the suite is written to (default: the one
    around the current folder)"""
    checking: Checking = group(Checking)
    dry_run: bool = option(default=False)
    """Say what would be drafted and what left out, and write nothing"""


EXAMPLES = (
    "fairtrial eval init --sessions --verifier 'npm test'",
    "fairtrial eval init --sessions ses_5rf4je latest --verifier 'pytest -q'",
    "fairtrial eval init --sessions --where 'flag = churn' --verifier 'npm test' --dry-run",
)
