"""Several answers about one output become one value, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fairtrial.graders.judge.prompt import Answer
from fairtrial.model.errors import GraderError
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Sample:
    """One time that one judge was asked.

    Attributes:
        judge: Which judge: its provider and model.
        number: Which time, from 1.
        answer: What it said; None when no answer could be had.
        problem: Why there is none.
        calls: How often the model was called for it.
        cached: How many of its answers were kept from an earlier call.
        cost_usd: What the calls cost; None when unknown.
    """

    judge: str
    number: int
    answer: Answer | None
    problem: str | None = None
    calls: int = 0
    cached: int = 0
    cost_usd: float | None = 0.0

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        answer = self.answer
        return {
            "judge": self.judge,
            "sample": self.number,
            "value": None if answer is None else answer.value,
            "said": None if answer is None else answer.said,
            "reason": self.problem if answer is None else answer.reason,
            "calls": self.calls,
            "cached": self.cached,
            "cost_usd": self.cost_usd,
        }


def combined(
    samples: Sequence[Sample],
    how: Literal["majority", "mean"],
    side: Callable[[Answer], object],
) -> tuple[float, str]:
    """Return the value that several answers come to, and its reason.

    A majority is more than half of all samples, those without an answer included; its value is the
    mean of those that agree. A mean needs every answer: one that is left out could have been any.

    Args:
        samples: At least one.
        how: `majority` or `mean`.
        side: What two answers must have in common to agree.

    Raises:
        GraderError: there is no majority, or an answer is missing for a mean.
    """
    if len(samples) == 1:
        only = samples[0]
        if only.answer is None:
            raise GraderError(only.problem or "no answer")
        return only.answer.value, f"{only.answer.said}: {only.answer.reason}"
    return _majority(samples, side) if how == "majority" else _mean(samples)


def _majority(samples: Sequence[Sample], side: Callable[[Answer], object]) -> tuple[float, str]:
    sides: dict[object, list[Answer]] = {}
    for sample in samples:
        if sample.answer is not None:
            sides.setdefault(side(sample.answer), []).append(sample.answer)
    largest = max(sides.values(), key=len, default=[])
    if 2 * len(largest) <= len(samples):
        raise GraderError(_split(samples, list(sides.values())))
    value = math.fsum(answer.value for answer in largest) / len(largest)
    said = " or ".join(dict.fromkeys(answer.said for answer in largest))
    return value, f"{len(largest)} of {len(samples)} say {said}: {largest[0].reason}"


def _split(samples: Sequence[Sample], sides: Sequence[Sequence[Answer]]) -> str:
    missing = [sample for sample in samples if sample.answer is None]
    if not sides:
        return f"none of {len(samples)} answers could be had: {missing[0].problem}"
    counts = ", ".join(
        f"{len(side)} say {' or '.join(dict.fromkeys(answer.said for answer in side))}"
        for side in sorted(sides, key=len, reverse=True)
    )
    lost = f", {len(missing)} gave no answer ({missing[0].problem})" if missing else ""
    return f"judges are split: of {len(samples)}, {counts}{lost}"


def _mean(samples: Sequence[Sample]) -> tuple[float, str]:
    missing = [sample for sample in samples if sample.answer is None]
    if missing:
        raise GraderError(
            f"{len(missing)} of {len(samples)} answers are missing, and a mean needs all: "
            f"{missing[0].problem}"
        )
    answers = [sample.answer for sample in samples if sample.answer is not None]
    mean = math.fsum(answer.value for answer in answers) / len(answers)
    nearest = min(answers, key=lambda answer: abs(answer.value - mean))
    low, high = (pick(answer.value for answer in answers) for pick in (min, max))
    said = f"{mean:.3g}, the mean of {len(answers)} ({low:.3g} to {high:.3g})"
    return mean, f"{said}: {nearest.reason}"
