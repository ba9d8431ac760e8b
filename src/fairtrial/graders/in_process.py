"""Graders that answer at once, without waiting for anything."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class InProcessGrader:
    """A grader whose answer is a pure function of the subject, had within microseconds.

    `grade_all` calls `judge` without a coroutine or a task; `grade` fulfils the port.
    """

    spec: GraderSpec

    def judge(self, subject: Subject) -> Grade:
        """Grade one output.

        Raises:
            GraderError: no answer could be had.
        """
        raise NotImplementedError

    async def open(self) -> None:
        """Do nothing."""

    async def grade(self, subject: Subject) -> Grade:
        """Grade one output, as `judge` does."""
        return self.judge(subject)

    async def close(self) -> None:
        """Do nothing."""


def wanted(given: Json, subject: Subject, option: str) -> Json:
    """Return what to compare with: the grader's own option, else what the case expects.

    Raises:
        GraderError: neither is there; an answer that cannot be judged is no wrong answer.
    """
    value = subject.case.expected if given is None else given
    if value is None:
        raise GraderError(f"the case expects nothing, and the grader has no {option!r}")
    return value
