"""Options of `grader check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.schema.fields import JSON_OR_FILE, group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Try to fool a grader: outputs that order it to pass them, empty, foreign and endless ones.

    Each is built from an output that failed. None of them may pass. Exit code 1 when one does, 4
    when the grader answers none.
    """

    grader: Any = option(positional=True, metavar=JSON_OR_FILE)
    """The grader, or with --experiment the name of one of its graders"""
    experiment: str | None = option(None, short="-e", metavar="EXPERIMENT[:ARM]")
    """Take failed outputs of this experiment (default: built-in questions with wrong answers)"""
    n: Annotated[int, Meta(ge=1, le=1000)] = option(3, short="-n", metavar="N")
    """Failed outputs to start from"""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] = option(4, short="-c", metavar="N")
    """Outputs graded at a time"""
    caching: Caching = group(Caching)


EXAMPLES = (
    "fairtrial grader check judge.json",
    "fairtrial grader check polite --experiment smoke -n 5",
    "fairtrial grader check judge.json --json",
)
