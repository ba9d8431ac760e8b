"""After a race: may the winner be adopted?"""

from __future__ import annotations

from fairtrial.analysis.paired import PairedComparison
from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.delta import Direction


def adopt(held_out: PairedComparison, guard: Decision) -> Decision:
    """Adopt a race's winner only when it is better on held-out cases and passes the guard gate.

    Its score in the race is no evidence: the best of several equal configurations looks better
    than it is.

    Args:
        held_out: Winner against start on cases outside the race.
        guard: The ship gate on the same or the guard cases.
    """
    better = held_out.verdict is Direction.BETTER
    ships = better and guard.outcome is Outcome.SHIP
    reasons = (held_out.describe(), *guard.reasons)
    return Decision(
        Outcome.SHIP if ships else Outcome.HOLD,
        reasons,
        {"held_out": held_out.verdict.value, "guard": guard.outcome.value, **guard.evidence},
        guard.advice,
    )
