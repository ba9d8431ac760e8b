"""Options of `eval validate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Check that the verdicts of eval tasks can be believed.

    Doing nothing must fail, the reference must pass each time, each near miss and each change to
    the verifier itself must fail, and what is hidden must not be found in what the agent gets. A
    task that passes is marked as validated until it is edited; any other stays a draft, with the
    reason. Exit code 1 when one did not validate.
    """

    tasks: tuple[str, ...] = option((), positional=True, metavar="TASK|SUITE")
    """The tasks: SUITE/TASK, a task's name, or all of a suite"""
    tag: tuple[str, ...] = option((), metavar="TAG")
    """Only tasks that have one of these tags"""
    k: Annotated[int, Meta(ge=1, le=100)] = option(5, short="-k", metavar="N")
    """How often doing nothing, and the reference, are verified"""
    level: Literal["none", "bwrap", "image"] | None = option(None, metavar="LEVEL")
    """What stands between a verifier and this machine (default: `image` for a task that needs one,
    else `bwrap`); `none` lets it do whatever you can"""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = option(4, short="-c", metavar="N")
    """Verifiers that run at a time"""
    again: bool = option(default=False)
    """Validate tasks that are validated as they are, too"""


EXAMPLES = (
    "fairtrial eval validate failures",
    "fairtrial eval validate fix-the-total --k 10",
    "fairtrial eval validate failures --tag smoke --again --json",
)
