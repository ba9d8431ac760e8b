"""May a comparison stop at this look?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fairtrial.analysis.paired import PairedComparison
from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.checks import check_count
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds

FEWEST_CASES = 10


def early_stop(
    comparison: PairedComparison,
    done: Sequence[int],
    planned: int,
    *,
    alpha: float = 0.05,
    final: bool = False,
) -> Decision:
    """Decide at a look whether the evidence suffices to stop.

    The look's own p-value is held against its boundary, because the z statistic of a mean is not
    normal at small n. A look before ten cases is refused. There is no rule to stop for futility.

    Args:
        comparison: The comparison of the cases finished so far.
        done: Finished cases at each look, this one last.
        planned: Cases planned in all.
        alpha: Two-sided error over all looks.
        final: This is the last look; it may use what is left of alpha.

    Raises:
        ArgumentError: looks do not increase, or planned is no count.
    """
    total = check_count("planned", planned, 1)
    looks = [check_count("done", n, 1) for n in done]
    if not looks or any(b <= a for a, b in pairwise(looks)):
        raise ArgumentError("done", f"must increase from look to look, got {list(done)}")
    if looks[-1] < FEWEST_CASES:
        reason = f"{looks[-1]} cases are too few for a look; {FEWEST_CASES} are needed"
        return Decision(Outcome.CONTINUE, (reason,))
    counted = [n for n in looks if n >= FEWEST_CASES]
    bounds = obrien_fleming_bounds([n / total for n in counted], alpha, final=final)
    p = None if comparison.p is None else comparison.p.value
    limit = bounds.nominal_p[-1]
    stops = p is not None and p <= limit
    reason = (
        f"p = {p:.2g} at look {len(counted)}, the limit is {limit:.2g}"
        if p is not None
        else "the look has no p-value"
    )
    return Decision(
        Outcome.STOP if stops else Outcome.CONTINUE,
        (reason,),
        {
            "p": p,
            "limit": limit,
            "z_bound": bounds.z[-1],
            "z_bounds": list(bounds.z),
            "looks": counted,
            "planned": total,
            "alpha": alpha,
            "spent": bounds.spent[-1],
            "method": bounds.method,
        },
        ("after a stop quote the median-unbiased estimate: the plain one is optimistic",)
        if stops
        else (),
    )
