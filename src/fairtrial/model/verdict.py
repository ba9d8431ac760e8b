"""Passed, failed or undecided, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a trial came to."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"


class Cause(StrEnum):
    """What made a verdict, when it was not a grader's judgement of an output."""

    TASK = "task"
    """The task crashed or sent a bad answer: failed."""
    LIMIT = "limit"
    """The time limit ended the task: failed."""
    INFRA = "infra"
    """Rate limits, servers, the network, setup or login: undecided."""
    GRADER = "grader"
    """A required grader could not answer: undecided."""
    UNDECIDABLE = "undecidable"
    """Permission asked, unreadable data, a lost sandbox: undecided."""
    INTERNAL = "internal"
    """A defect of fairtrial: undecided."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict with what is behind it.

    Attributes:
        verdict: Passed, failed or undecided.
        cause: None when graders judged an output.
        reason: One line, the first thing to read about a trial that did not pass.
        score: The weighted mean of the graders' values; None when a value is missing.
        at_fault: Who left it undecided: `platform` or `task`; None when it is decided.
    """

    verdict: Verdict
    cause: Cause | None
    reason: str | None
    score: float | None
    at_fault: str | None = None
