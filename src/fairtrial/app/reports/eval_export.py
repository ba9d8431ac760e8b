"""What `eval export` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class ExportedTask:
    """A task that was written.

    Attributes:
        name: Its name.
        digest: The version that was written.
        folder: Where it lies, absolute.
        lost: What the other tool will not see of it, a line each.
    """

    name: str
    digest: str
    folder: str
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What came of writing tasks.

    Attributes:
        suite: The suite.
        to: The other tool.
        written: The tasks that were written, by name.
        problems: Names of those that were not, and why.
        notes: What was left out, a line each.
    """

    schema: ClassVar[str] = "fairtrial.eval_export/1"

    suite: str
    to: str
    written: Sequence[ExportedTask]
    problems: Sequence[tuple[str, str]]
    notes: Sequence[str] = ()

    @property
    def exit_code(self) -> ExitCode:
        """4 when a task could not be written, else 0."""
        return ExitCode.NO_VERDICT if self.problems else ExitCode.OK

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "suite": self.suite,
            "to": self.to,
            "tasks": [
                {
                    "name": one.name,
                    "digest": one.digest,
                    "folder": one.folder,
                    "lost": list(one.lost),
                }
                for one in self.written
            ],
            "problems": [{"task": name, "why": why} for name, why in self.problems],
            "notes": list(self.notes),
        }
