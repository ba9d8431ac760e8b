"""Answers of graders that users write: a number, or a number with a reason, and nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade
from fairtrial.model.wording import shown
from fairtrial.schema.decoding import unknown_name

LARGEST = 1e100
"""How far a score may be from 0: so little that sums and squares of a million are numbers."""
MENU = 'a number or {"score": number, "reason": text}'


def grade_in(answer: Any) -> Grade:
    """Return the grade that a number or an object with `score` and `reason` stands for.

    A `score` of null means that the grader could not tell. A pass is never taken from an answer:
    the threshold makes it.

    Raises:
        GraderError: anything else.
    """
    if not isinstance(answer, Mapping):
        return Grade(_finite(answer))
    unknown = [name for name in answer if name not in ("score", "reason")]
    if unknown:
        raise GraderError(f"answered with {unknown_name(str(unknown[0]), ('score', 'reason'))}")
    if "score" not in answer:
        raise GraderError(f"answered {shown(answer)} without a 'score'")
    reason = answer.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise GraderError(f"answered with a 'reason' that is no text: {shown(reason)}")
    score = answer["score"]
    return Grade(None if score is None else _finite(score), reason)


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise GraderError(f"answered {shown(value)}, not {MENU}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise GraderError(f"answered {shown(value)}, which is not finite")
    if abs(number) > LARGEST:
        raise GraderError(f"answered {shown(value)}, which is beyond {LARGEST:g}")
    return number
