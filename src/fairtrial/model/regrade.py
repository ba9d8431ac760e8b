"""What grading stored outputs again changed."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Cause, Verdict


@dataclass(frozen=True, slots=True)
class Flip:
    """A trial whose verdict differs from the original's.

    Attributes:
        key: The trial.
        before: The original's verdict.
        after: The new one.
        reason_before: The original's reason; None when it passed.
        reason_after: The new one; None when it passes.
        cause_after: What made the new verdict, when no grader did.
    """

    key: TrialKey
    before: Verdict
    after: Verdict
    reason_before: str | None
    reason_after: str | None
    cause_after: Cause | None


@dataclass(frozen=True, slots=True)
class Unable:
    """A grader that gave no value for some stored outputs.

    Attributes:
        grader: Its name.
        missing: Outputs it gave no value for.
        total: Outputs it was asked about.
        reason: Why, for the first of them.
    """

    grader: str
    missing: int
    total: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Regrade:
    """The difference between an experiment and its regrade.

    Attributes:
        graded: Trials whose output was graded again.
        kept: Trials without an output; their verdict stayed.
        flips: Trials whose verdict changed, by key.
        unable: Graders that gave no value for some outputs.
    """

    graded: int
    kept: int
    flips: tuple[Flip, ...]
    unable: tuple[Unable, ...]


@dataclass(frozen=True, slots=True)
class GraderNoise:
    """How much one grader differs with itself over the same outputs.

    Attributes:
        grader: Its name; None for the verdict that all graders make together.
        fixed: It is a pure function of the output, so it cannot differ and was not measured.
        outputs: Outputs it gave a value for in every round.
        flip_rate: Chance that two rounds disagree about passed or failed; None when unknown.
        spread: Standard deviation of its value for one output; None when unknown.
    """

    grader: str | None
    fixed: bool
    outputs: int
    flip_rate: float | None
    spread: float | None


@dataclass(frozen=True, slots=True)
class RepeatedGrading:
    """What grading the same outputs several times showed.

    Attributes:
        k: How often each output was to be graded.
        noise: Of the verdict that all graders make together, then of each grader.
    """

    k: int
    noise: tuple[GraderNoise, ...]
