"""What the validation of an eval task finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fairtrial.model.eval_task import TaskStatus
from fairtrial.model.json import Json


class Check(StrEnum):
    """What is checked, in the order of the report: the first that failed is the reason."""

    WORKSPACE = "workspace"
    """The workspace can be made, and its setup works."""
    NOTHING_DONE = "nothing-done"
    """The verifier fails a workspace in which nothing was done."""
    REFERENCE = "reference"
    """The verifier passes the reference, every time."""
    NEAR_MISSES = "near-misses"
    """The verifier fails each near miss."""
    LEAKS = "leaks"
    """What is hidden cannot be found in what the agent gets."""
    HISTORY = "history"
    """The agent gets no commit but those up to the start, and no way to others."""
    DETERMINISM = "determinism"
    """The verifier says the same of the same files."""
    TAMPERING = "tampering"
    """The verifier is not satisfied by a change to itself."""
    JUDGE = "judge"
    """The judge is settled, and no order in an output fools it."""
    LINT = "lint"
    """What makes a task odd. It only warns."""


class State(StrEnum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    """There was nothing to check, or something else has to be repaired first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a check found.

    Attributes:
        text: What was found.
        fix: What its author can do; None when there is nothing.
    """

    text: str
    fix: str | None = None

    @property
    def line(self) -> str:
        """It, on one line."""
        return _plain(self.text if self.fix is None else f"{self.text} ({self.fix})")

    def content(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {"text": _plain(self.text), "fix": None if self.fix is None else _plain(self.fix)}


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one check.

    Attributes:
        check: The check.
        problems: What keeps the task from being validated.
        warnings: What its author should know, and may leave.
        skipped: Why nothing was checked; None when something was.
        facts: What was counted.
    """

    check: Check
    problems: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    skipped: str | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """What came of it."""
        if self.problems:
            return State.FAILED
        return State.PASSED if self.skipped is None else State.SKIPPED

    def content(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "check": self.check.value,
            "state": self.state.value,
            "problems": [finding.content() for finding in self.problems],
            "warnings": [finding.content() for finding in self.warnings],
            "skipped": self.skipped,
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, slots=True)
class Validation:
    """What the validation of one version of a task came to.

    Attributes:
        k: How often nothing done, and the reference, were verified.
        level: What stood between the verifier and the machine.
        checks: What came of each check.
        cost_usd: What judges cost; None when a part of it is unknown.
        duration_s: Seconds it took.
    """

    k: int
    level: str
    checks: tuple[Checked, ...]
    cost_usd: float | None = 0.0
    duration_s: float = 0.0

    @property
    def status(self) -> TaskStatus:
        """Whether the task is validated."""
        return TaskStatus.DRAFT if self.problems else TaskStatus.VALIDATED

    @property
    def problems(self) -> tuple[Finding, ...]:
        """All that keeps it from being validated, the most telling first."""
        return tuple(finding for checked in self.checks for finding in checked.problems)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """All that its author should know."""
        return tuple(finding for checked in self.checks for finding in checked.warnings)

    @property
    def reason(self) -> str | None:
        """Why it is not validated, on one line; None when it is."""
        return self.problems[0].line if self.problems else None

    def content(self) -> dict[str, Json]:
        """Return it as JSON; it is kept with the version of the task."""
        return {
            "k": self.k,
            "level": self.level,
            "reason": self.reason,
            "checks": [checked.content() for checked in self.checks],
            "cost_usd": self.cost_usd,
            "duration_s": self.duration_s,
        }


def _plain(text: str) -> str:
    """Return a text that can be written: names of files need not be UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def as_word(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
