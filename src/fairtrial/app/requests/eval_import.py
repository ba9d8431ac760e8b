"""Options of `eval import`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Load eval tasks from their folders, after an edit or on another machine.

    The folder is that of one task, or of a suite, whose tasks are all loaded. What changed is said,
    and that a validation counts no more: it was of the version before.

    DIR may also be a task of Harbor or of terminal-bench, a folder of such tasks, or a file with
    instances of SWE-bench (.json, .jsonl). They are written as a suite of this project, and what of
    them cannot be held is said.
    """

    folder: Path = option(positional=True, metavar="DIR")
    """The folder of a task, such as evals/failures/tasks/my-task, or of a suite"""
    suite: str | None = option(None, metavar="NAME")
    """Of tasks of another tool: the suite that they become (default: named after DIR)"""
    repos: Path | None = option(None, metavar="DIR")
    """Of instances of SWE-bench: the folder with clones of their repositories, as owner/name,
    owner__name or name"""


EXAMPLES = (
    "fairtrial eval import evals/failures/tasks/fix-the-total",
    "fairtrial eval import evals/failures --json",
    "fairtrial eval import ~/harbor-tasks/hello-world --suite harbor",
    "fairtrial eval import instances.jsonl --repos ~/clones --suite swe",
)
