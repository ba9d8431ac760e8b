"""What `eval validate` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of one task.

    Attributes:
        suite: Its suite.
        task: Its name.
        digest: What names the version that was checked.
        status: `validated`, `draft`, or `unchecked`, which leaves what was known before.
        reason: Why it is not validated, on one line; None when it is.
        validation: What the checks found; None when none was made.
        earlier: It was validated before, and not checked again.
    """

    suite: str
    task: str
    digest: str
    status: str
    reason: str | None
    validation: Mapping[str, Json] | None
    earlier: bool = False

    @property
    def checks(self) -> Sequence[Mapping[str, Json]]:
        """What came of each check."""
        checks: Sequence[Mapping[str, Json]] = (self.validation or {}).get("checks") or ()
        return checks

    def findings(self, kind: str) -> list[str]:
        """Return its `problems`, or its `warnings`, a line each."""
        found: list[str] = []
        for check in self.checks:
            for finding in check[kind]:
                fix = finding["fix"]
                found.append(finding["text"] if fix is None else f"{finding['text']} ({fix})")
        return found

    def json(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        told = self.validation or {}
        return {
            "suite": self.suite,
            "task": self.task,
            "digest": self.digest,
            "status": self.status,
            "reason": self.reason,
            "earlier": self.earlier,
            "k": told.get("k"),
            "level": told.get("level"),
            "cost_usd": told.get("cost_usd"),
            "duration_s": told.get("duration_s"),
            "checks": [dict(check) for check in self.checks],
        }


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What came of each task, by suite and name."""

    schema: ClassVar[str] = "fairtrial.validation/1"

    tasks: Sequence[TaskOutcome]

    def count(self, status: str) -> int:
        """Return how many tasks have a status."""
        return sum(task.status == status for task in self.tasks)

    @property
    def exit_code(self) -> ExitCode:
        """1 when a task did not validate."""
        everything = self.count("validated") == len(self.tasks)
        return ExitCode.OK if everything else ExitCode.NEGATIVE

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "validated": self.count("validated"),
            "draft": self.count("draft"),
            "unchecked": self.count("unchecked"),
            "tasks": [task.json() for task in self.tasks],
            "exit_code": self.exit_code,
        }
