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
    """

    folder: Path = option(positional=True, metavar="DIR")
    """The folder of a task, such as evals/failures/tasks/my-task, or of a suite"""


EXAMPLES = (
    "fairtrial eval import evals/failures/tasks/fix-the-total",
    "fairtrial eval import evals/failures --json",
)
