"""Options of `eval show`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Show an eval task: what it begins with, what it asks, what verifies it, its validation."""

    task: str = option(positional=True, metavar="TASK")
    """A task of this project: its name, or SUITE/NAME"""


EXAMPLES = (
    "fairtrial eval show fix-the-total",
    "fairtrial eval show failures/fix-the-total --json",
)
