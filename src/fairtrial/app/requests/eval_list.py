"""Options of `eval list`."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """List the eval tasks of this project: validated or draft, what they begin with, what is there.

    They are those that were loaded; a task whose folder was edited since, or is gone, is marked.
    """

    suite: str | None = option(None, positional=True, metavar="SUITE")
    """Only the tasks of this suite"""
    everywhere: bool = option(default=False, flag="--all")
    """The tasks of all projects"""


EXAMPLES = ("fairtrial eval list", "fairtrial eval list failures --json")
