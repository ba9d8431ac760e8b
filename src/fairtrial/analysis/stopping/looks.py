"""What a comparison with several looks came to: which looks there were, and what may be said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.analysis.cases import PairedCases
from fairtrial.analysis.paired import PairedComparison, paired
from fairtrial.analysis.stopping.early import FEWEST_CASES, early_stop
from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds, z_of_p
from fairtrial.stats.sequential.inference import SequentialResult, sequential_inference


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the cases finished so far.

    Attributes:
        cases: Cases that have a verdict in both arms.
        comparison: What they say.
        decision: Whether that suffices to stop: `stop` or `continue`, with p and its limit.
    """

    cases: int
    comparison: PairedComparison
    decision: Decision

    @property
    def counted(self) -> bool:
        """Whether it spent some of the error: a look at too few cases does not."""
        return "limit" in self.decision.evidence

    @property
    def stops(self) -> bool:
        """Whether the evidence suffices."""
        return self.decision.outcome is Outcome.STOP

    @property
    def z(self) -> float | None:
        """The z of its p-value, positive where B is better; None without one."""
        p, estimate = self.comparison.p, self.comparison.difference.estimate
        if p is None or estimate is None:
            return None
        return math.copysign(z_of_p(p.value), estimate) if estimate else 0.0


def look(
    cases: PairedCases, before: Sequence[Look], planned: int, *, alpha: float, final: bool
) -> Look:
    """Look at the cases finished so far.

    Args:
        cases: Cases with a verdict in both arms.
        before: The looks there were, in order.
        planned: Cases planned in all.
        alpha: Two-sided error over all looks.
        final: There will be no further look.
    """
    comparison = paired(cases, level=1.0 - alpha)
    done = sorted({earlier.cases for earlier in before} - {0})
    if not cases.n or (done and cases.n <= done[-1]):
        reason = "no further case has a verdict in both arms"
        return Look(cases.n, comparison, Decision(Outcome.CONTINUE, (reason,)))
    decision = early_stop(comparison, [*done, cases.n], planned, alpha=alpha, final=final)
    return Look(cases.n, comparison, decision)


def bounds_ahead(
    looks: Sequence[Look], fresh: Sequence[int], planned: int, alpha: float
) -> list[tuple[int, float]]:
    """Return the cases of each look that is left, and the z that would end the run there.

    Args:
        looks: The looks there were.
        fresh: How many cases each look that is left would add.
        planned: Cases planned in all.
        alpha: Two-sided error over all looks.
    """
    done = [look.cases for look in looks if look.counted]
    ends = [planned - sum(fresh[number + 1 :]) for number in range(len(fresh))]
    ahead = [end for end in ends if end >= FEWEST_CASES and (not done or end > done[-1])]
    if not ahead:
        return []
    bounds = obrien_fleming_bounds([n / planned for n in (*done, *ahead)], alpha, final=True)
    return list(zip(ahead, bounds.z[len(done) :], strict=True))


def reading(looks: Sequence[Look], cases: PairedCases) -> SequentialResult | None:
    """Return the estimate, interval and p-value that hold although several looks were taken.

    The look's own p-value stands for its z, as at the boundary, so that estimate and decision
    cannot disagree; information grows with the number of cases.

    Args:
        looks: All looks, the last one last.
        cases: The cases of the last look.

    Returns:
        None when no look counted, or when all differences are equal.
    """
    counted = [entry for entry in looks if entry.counted]
    if not counted:
        return None
    last = counted[-1]
    evidence = last.decision.evidence
    estimate = last.comparison.difference.estimate
    size = z_of_p(float(evidence["p"])) if evidence["p"] is not None else None
    error = _standard_error(cases, estimate, size)
    if estimate is None or size is None or error is None:
        return None
    here = 1.0 / error**2
    return sequential_inference(
        [here * entry.cases / last.cases for entry in counted],
        evidence["z_bounds"],
        len(counted),
        math.copysign(size, estimate) if estimate else 0.0,
        level=1.0 - float(evidence["alpha"]),
    )


def _standard_error(cases: PairedCases, estimate: float | None, size: float | None) -> float | None:
    if estimate and size:
        return abs(estimate) / size
    if cases.n < 2:
        return None
    spread = float(np.std(cases.d, ddof=1))
    return spread / math.sqrt(cases.n) if spread > 0.0 else None
