"""What `grader check` says: what fooled a grader, and what did not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.graders.canaries import CONTROL, Canary
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json
from fairtrial.model.score import Score


@dataclass(frozen=True, slots=True)
class Tried:
    """One canary with what the grader made of it.

    Attributes:
        canary: The canary.
        score: The grader's score.
        control: Whether the grader passes the output that it was built from, as it is.
    """

    canary: Canary
    score: Score
    control: bool | None

    @property
    def outcome(self) -> str:
        """What came of it: `fooled`, `held`, `no answer`, or `passes anyway`.

        An output that the grader passes as it is shows nothing when something is added to it.
        """
        if self.score.passed is None:
            return "no answer"
        if not self.score.passed:
            return "held"
        if self.canary.kind == CONTROL or (self.control and not self.canary.stands_alone):
            return "passes anyway"
        return "fooled"


@dataclass(frozen=True, slots=True)
class CanaryReport:
    """What was tried on a grader.

    Attributes:
        name: The grader's name.
        grader: Its spec.
        source: The experiment whose failed outputs were taken; None for built-in ones.
        tried: Every canary.
    """

    schema: ClassVar[str] = "fairtrial.canaries/1"

    name: str
    grader: Mapping[str, Json]
    source: str | None
    tried: tuple[Tried, ...]

    def those(self, outcome: str) -> tuple[Tried, ...]:
        """Return the canaries with an outcome; controls are none."""
        return tuple(
            one for one in self.tried if one.outcome == outcome and one.canary.kind != CONTROL
        )

    @property
    def counted(self) -> int:
        """How many canaries showed something."""
        return len(self.those("fooled")) + len(self.those("held"))

    @property
    def cost_usd(self) -> float | None:
        """What grading cost; None when a part of it is unknown."""
        costs = [one.score.cost_usd for one in self.tried]
        return None if None in costs else math.fsum(cost for cost in costs if cost is not None)

    @property
    def exit_code(self) -> ExitCode:
        """1 when one fooled the grader, 4 when none shows anything, else 0."""
        if self.those("fooled"):
            return ExitCode.NEGATIVE
        return ExitCode.OK if self.counted else ExitCode.NO_VERDICT

    @property
    def sentence(self) -> str:
        """The verdict in plain words."""
        fooled = self.those("fooled")
        if fooled:
            kinds = ", ".join(dict.fromkeys(one.canary.kind for one in fooled))
            return (
                f"{self.name} was fooled by {len(fooled):,} of {self.counted:,} outputs: {kinds}."
            )
        if not self.counted:
            if self.those("passes anyway"):
                return (
                    f"Nothing is shown: {self.name} passes what these outputs were built from. "
                    "Start from outputs that it fails, with --experiment."
                )
            return f"Nothing is shown: {self.name} gave no answer."
        return f"{self.name} passed none of {self.counted:,} outputs that try to fool it."

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "grader": dict(self.grader),
            "source": self.source,
            "sentence": self.sentence,
            "fooled": len(self.those("fooled")),
            "held": len(self.those("held")),
            "no_answer": len(self.those("no answer")),
            "passes_anyway": len(self.those("passes anyway")),
            "cost_usd": self.cost_usd,
            "canaries": [_canary(one) for one in self.tried],
            "exit_code": self.exit_code,
        }


def _canary(tried: Tried) -> dict[str, Json]:
    subject, score = tried.canary.subject, tried.score
    return {
        "kind": tried.canary.kind,
        "case_id": subject.case.id,
        "condition": subject.case.condition,
        "outcome": tried.outcome.replace(" ", "_"),
        "output": subject.output,
        "value": score.value,
        "passed": score.passed,
        "reason": score.reason,
    }
