"""Options of `eval rm`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Take eval tasks off their suites; their folders stay, and can be loaded again.

    Experiments that ran them keep what they need. A snapshot that only a task kept, since its
    session is removed, is removed with it.
    """

    tasks: tuple[str, ...] = option((), positional=True, metavar="TASK")
    """Tasks of this project: names, SUITE/NAME, or a suite for all of its tasks"""
    files: bool = option(default=False)
    """Remove their folders, too"""


EXAMPLES = (
    "fairtrial eval rm failures/fix-the-total",
    "fairtrial eval rm fix-the-total --files",
)
