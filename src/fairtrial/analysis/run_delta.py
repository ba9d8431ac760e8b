"""What changed between two runs, in one line."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from fairtrial.model.comparison import Change, Comparison
from fairtrial.model.delta import Direction
from fairtrial.model.json import Json

_WORDS = {
    Direction.BETTER: "better",
    Direction.WORSE: "worse",
    Direction.INCONCLUSIVE: "luck may explain it",
}


@dataclass(frozen=True, slots=True)
class RunDelta:
    """A run beside the one before it.

    Attributes:
        previous: The id of the run before.
        previous_name: Its name.
        estimate: This run's pass rate less that one's, on the cases of both; None without any.
        lower: Lower end of its interval; None when there is none.
        upper: Upper end.
        level: Level of the interval.
        method: How it was made.
        n: Cases of both that have a verdict in both.
        fixed: Of those, solved in this run only.
        broken: Of those, solved in the run before only.
        verdict: `better`, `worse` or `inconclusive`; None without an estimate.
        reason: Why nothing could be compared; None when something was.
    """

    previous: str
    previous_name: str
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    level: float = 0.95
    method: str = "none"
    n: int = 0
    fixed: int = 0
    broken: int = 0
    verdict: str | None = None
    reason: str | None = None

    def sentence(self) -> str:
        """Return it as one line."""
        against = f"vs {self.previous_name} ({self.previous})"
        if self.estimate is None or self.verdict is None:
            return f"{against}: not compared: {self.reason}"
        interval = ""
        if self.lower is not None and self.upper is not None:
            interval = f" ({100 * self.lower:+.1f} to {100 * self.upper:+.1f})"
        return (
            f"{against}: {100 * self.estimate:+.1f} points{interval}, {self.fixed:,} fixed, "
            f"{self.broken:,} broken of {self.n:,}: {_WORDS[Direction(self.verdict)]}"
        )

    def content(self) -> dict[str, Json]:
        """Return it as one JSON object."""
        return {**asdict(self), "sentence": self.sentence()}


def run_delta(found: Comparison) -> RunDelta:
    """Return the line of a comparison: A is the run before, B this one."""
    if not found.comparable or found.delta.estimate is None:
        problems = [problem.what for problem in found.problems]
        reason = "; ".join(problems) or "no case has a verdict in both"
        return RunDelta(found.a.id, found.a.name, reason=reason)
    delta = found.delta
    return RunDelta(
        previous=found.a.id,
        previous_name=found.a.name,
        estimate=delta.estimate,
        lower=delta.lower,
        upper=delta.upper,
        level=delta.level,
        method=delta.method,
        n=delta.n,
        fixed=found.counts[Change.FIXED],
        broken=found.counts[Change.BROKEN],
        verdict=delta.verdict.value,
    )
