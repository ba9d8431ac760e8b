"""No worse than a margin: the decision."""

from __future__ import annotations

from fairtrial.analysis.cases import PairedCases
from fairtrial.analysis.paired import Ci, paired
from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.noninferiority import margin_test


def non_inferiority(
    cases: PairedCases, margin: float, *, ci: Ci = "auto", level: float = 0.95, seed: int = 0
) -> Decision:
    """Ship when the interval of the difference lies above -margin; ties do not pass for free.

    Raises:
        ArgumentError: margin is not positive, or the interval does not fit the data.
    """
    found = paired(cases, ci=ci, level=level, seed=seed).difference
    test = margin_test(found.interval, found.n, margin, found.reason)
    if test.non_inferior is None:
        return Decision(Outcome.TOO_FEW, (test.describe(),))
    return Decision(
        Outcome.SHIP if test.non_inferior else Outcome.HOLD,
        (test.describe(),),
        {
            "method": test.method,
            "n": found.n,
            "clusters": found.clusters,
            "level": level,
            "margin": margin,
            "delta": found.estimate,
            "lower": test.interval.lower if test.interval else None,
            "upper": test.interval.upper if test.interval else None,
            "equivalent": test.equivalent,
            "seed": found.seed,
        },
    )
