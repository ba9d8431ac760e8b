"""Does the candidate win with every judge?"""

from __future__ import annotations

from collections.abc import Mapping

from fairtrial.model.decision import Decision, Outcome
from fairtrial.stats.checks import check_between
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.pairwise import Pairwise


def pairwise_gate(judges: Mapping[str, Pairwise], *, alpha: float = 0.05) -> Decision:
    """Ship when every judge prefers the candidate (B) beyond luck.

    All must agree, so no correction for their number is due.

    Args:
        judges: Each judge's comparison.
        alpha: One-sided error.

    Raises:
        ArgumentError: there is no judge.
    """
    check_between("alpha", alpha, 0.0, 0.5)
    if not judges:
        raise ArgumentError("judges", "needs at least one")
    against = [name for name, found in judges.items() if found.test.p_mid_greater > alpha]
    reasons = tuple(f"{name}: {found.describe()}" for name, found in judges.items())
    return Decision(
        Outcome.HOLD if against else Outcome.SHIP,
        reasons,
        {
            "alpha": alpha,
            "against": against,
            "p": {name: found.test.p_mid_greater for name, found in judges.items()},
            "net": {name: found.net.estimate for name, found in judges.items()},
        },
    )
