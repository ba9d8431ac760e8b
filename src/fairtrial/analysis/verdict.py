"""The only place where a verdict is made: from what went wrong and what the graders said.

Missing is never zero. A value that could not be had stays None through score, main score and
verdict, so that a broken grader or a rate limit never looks like a bad answer.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from numbers import Real

from fairtrial.model.errors import (
    GraderError,
    InfraError,
    TaskError,
    TrialProblem,
    TrialTimeout,
    Undecidable,
)
from fairtrial.model.grader import Grade, GraderSpec
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.verdict import Cause, Ruling, Verdict

REASON_LENGTH = 300
"""A reason is one line of at most so many characters."""

PLATFORM, TASK = "platform", "task"
"""Who left a trial undecided. A judge that fails is the user's choice, so it counts as `task`."""

_UNDECIDED: tuple[tuple[type[TrialProblem], Cause], ...] = (
    (InfraError, Cause.INFRA),
    (Undecidable, Cause.UNDECIDABLE),
    (GraderError, Cause.GRADER),
)


def decide(problem: TrialProblem | Exception | None, scores: Sequence[Score]) -> Ruling:
    """Return the verdict of one trial.

    Args:
        problem: Why the trial has no output, or an output that came over the time limit.
        scores: One a grader, in the order of the spec; empty when nothing was graded. With a
            `TrialTimeout` they mean that graders could still read what the task left behind.
    """
    if problem is None:
        return _graded(scores)
    if isinstance(problem, TrialTimeout):
        return _over_limit(problem, scores)
    if isinstance(problem, TaskError):
        return Ruling(Verdict.FAILED, Cause.TASK, _reason_of(problem), None)
    for kind, cause in _UNDECIDED:
        if isinstance(problem, kind):
            at_fault = _at_fault(problem, cause)
            return Ruling(Verdict.UNDECIDED, cause, _reason_of(problem), None, at_fault)
    reason = one_line(f"{type(problem).__name__}: {problem}")
    return Ruling(Verdict.UNDECIDED, Cause.INTERNAL, reason, None, PLATFORM)


def score_of(spec: GraderSpec, grade: Grade, default_threshold: float) -> Score:
    """Return a grade as a score: `not` applied, checked to be finite, held against the threshold.

    Args:
        spec: The grader.
        grade: Its raw answer.
        default_threshold: Counts when the spec has none.
    """
    value, problem = _finite(grade.value)
    if value is None:
        why = problem or grade.reason or "the grader gave no value"
        return score_missing(spec, why, grade.cost_usd, grade.detail)
    reason = grade.reason
    if spec.negate:
        # Rounded, so that 1 - 0.9 reaches a threshold of 0.1 as its reader expects.
        value = round(1.0 - value, 12)
        reason = f"not wanted: {reason or 'the output matched'}"
    threshold = default_threshold if spec.threshold is None else spec.threshold
    passed = value >= threshold
    if reason is not None:
        reason = one_line(reason)
    elif not passed:
        reason = f"{value:g} is below {threshold:g}"
    return Score(
        spec.name,
        value,
        passed,
        reason,
        spec.required,
        spec.weight,
        grade.cost_usd,
        grade.detail,
    )


def score_missing(
    spec: GraderSpec, reason: str, cost_usd: float | None = 0.0, detail: Json = None
) -> Score:
    """Return the score of a grader that gave no value; asking for one may have cost something."""
    return Score(
        spec.name, None, None, one_line(reason), spec.required, spec.weight, cost_usd, detail
    )


def main_score(scores: Sequence[Score]) -> float | None:
    """Return the mean of the values, weighted; None when one is missing or no weight is left.

    A score of weight 0 is left out, so it may be missing.
    """
    weighed = [score for score in scores if score.weight > 0]
    values = [score.value for score in weighed if score.value is not None]
    if not weighed or len(values) < len(weighed):
        return None
    if len(values) == 1:
        return values[0]
    # Weights up to 1 cannot overflow a sum, and the clamp keeps rounding from leaving the range.
    largest = max(score.weight for score in weighed)
    weights = [score.weight / largest for score in weighed]
    total = math.fsum(weights)
    mean = math.fsum(w / total * v for w, v in zip(weights, values, strict=True))
    return min(max(mean, min(values)), max(values))


def grading_cost(scores: Sequence[Score]) -> float | None:
    """Return what the judges of one trial cost; None when a cost is unknown, or there is none."""
    costs = [score.cost_usd for score in scores]
    total = math.fsum(cost for cost in costs if cost is not None)
    return None if None in costs or total == 0.0 else total


def one_line(text: str) -> str:
    """Return a text as one short printable line.

    Outputs are hostile: what would move the cursor, turn the writing direction or break a file's
    encoding is shown as an escape.
    """
    if len(text) > REASON_LENGTH:
        text = text[: REASON_LENGTH - 1].rstrip() + "…"
    if text.isprintable():
        return text
    text = "".join(map(_shown, text.strip()))
    return text if len(text) <= REASON_LENGTH else text[: REASON_LENGTH - 1] + "…"


def _graded(scores: Sequence[Score], cause: Cause | None = None) -> Ruling:
    required = [score for score in scores if score.required]
    main = main_score(scores)
    failed = next((score for score in required if score.passed is False), None)
    if failed is not None:
        return Ruling(Verdict.FAILED, cause, _reason_from(failed), main)
    missing = next((score for score in required if score.passed is None), None)
    if missing is not None:
        return Ruling(Verdict.UNDECIDED, Cause.GRADER, _reason_from(missing), main, TASK)
    return Ruling(Verdict.PASSED, cause, None, main)


def _over_limit(problem: TrialTimeout, scores: Sequence[Score]) -> Ruling:
    # What is left behind may be right all the same; but only a required grader can say so.
    if any(score.required for score in scores):
        return _graded(scores, Cause.LIMIT)
    return Ruling(Verdict.FAILED, Cause.LIMIT, _reason_of(problem), None)


def _finite(value: object) -> tuple[float | None, str | None]:
    if value is None:
        return None, None
    if type(value) is float and math.isfinite(value):  # nearly always, and ten times faster
        return value, None
    # The type is a promise that graders written by users break: "0.5" is an answer off the menu.
    try:
        number = float(value) if isinstance(value, Real) else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None:
        return None, f"the grader's value is no finite number but a {type(value).__name__}"
    if not math.isfinite(number):
        return None, f"the grader's value is {number}, not finite"
    return number, None


def _at_fault(problem: TrialProblem, cause: Cause) -> str:
    if isinstance(problem, Undecidable):
        return problem.at_fault
    return PLATFORM if cause is Cause.INFRA else TASK


def _reason_of(problem: TrialProblem) -> str:
    return one_line(str(problem)) or type(problem).__name__


def _reason_from(score: Score) -> str:
    return one_line(f"{score.grader}: {score.reason}" if score.reason else score.grader)


def _shown(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":
        return character
    if character in "\t\n\r":
        return {"\t": " ", "\n": "⏎", "\r": ""}[character]
    return character.encode("unicode_escape").decode("ascii")
