"""What turns an output into a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairtrial.model.case import Case
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class GraderSpec:
    """A grader as the user wrote it.

    Attributes:
        kind: `exact`, `contains`, `command`, …
        name: What the report calls it; unique in an experiment. The kind unless given.
        options: The kind's own options.
        negate: `not` in a spec: the value v counts as 1 - v.
        weight: Its share in the trial's main score, at least 0.
        threshold: The trial passes this grader when value >= threshold. None: the kind's own.
        required: Whether failing it fails the trial; else it only adds to the main score.
    """

    kind: str
    name: str
    options: Mapping[str, Json] = field(default_factory=dict)
    negate: bool = False
    weight: float = 1.0
    threshold: float | None = None
    required: bool = True

    def content(self) -> dict[str, Json]:
        """Return the spec as one JSON object; the ground of its hash."""
        return {
            "kind": self.kind,
            "name": self.name,
            **self.options,
            "not": self.negate,
            "weight": self.weight,
            "threshold": self.threshold,
            "required": self.required,
        }


@dataclass(frozen=True, slots=True)
class Subject:
    """What a grader looks at: one output, and the case it belongs to.

    Attributes:
        case: The case.
        output: The output.
        trial: The number of the trial that it came from.
        metrics: What its task measured.
        turn: 0, or how often the same output was graded before: what a judge answered then is no
            answer to this.
    """

    case: Case
    output: Json
    trial: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Grade:
    """A grader's raw answer, before threshold, `not` and weight.

    Attributes:
        value: Finite, 1 is best for a grader that judges; None when it could not be scored.
        reason: Why, in a few words; shown beside a failure.
        cost_usd: What the model calls behind it cost; 0 when it made none, None when unknown.
        detail: What led to it, as JSON: each judge's and sample's answer.
    """

    value: float | None
    reason: str | None = None
    cost_usd: float | None = 0.0
    detail: Json = None
