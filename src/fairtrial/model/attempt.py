"""Attempts: the tries inside one trial when a failed one is tried again with feedback."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.model.verdict import Cause, Verdict


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a trial.

    Attributes:
        number: 1 for the first, then 2, 3, …
        verdict: Its own verdict.
        cause: What made it, when no grader did.
        reason: One line when it did not pass.
        score: Its main score.
        output: What the task gave.
        feedback: What the next attempt was told about this one; None when there was no next one.
        duration_s: Seconds of its task call; None is unknown.
        cost_usd: What it cost, its graders and its critic included; None is unknown.
        tokens: What it read and wrote.
    """

    number: int
    verdict: Verdict
    cause: Cause | None
    reason: str | None
    score: float | None
    output: Json
    feedback: str | None
    duration_s: float | None
    cost_usd: float | None
    tokens: Tokens | None = None


@dataclass(frozen=True, slots=True)
class Rerun:
    """A failed trial run once more, only to tell a regression from bad luck.

    Attributes:
        verdict: Its own verdict; it counts nowhere else.
        reason: One line when it did not pass.
        cost_usd: What it cost, its graders included; None is unknown.
    """

    verdict: Verdict
    reason: str | None
    cost_usd: float | None
