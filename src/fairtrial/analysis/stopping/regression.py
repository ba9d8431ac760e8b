"""Has a case that used to pass really broken?"""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.model.decision import Decision, Outcome

CONFIRMATIONS = 2


def confirmed_regression(
    trials: Sequence[bool],
    *,
    baseline_solved: bool,
    confirmations: int = CONFIRMATIONS,
) -> Decision:
    """Stop on a regression only after it failed again on every rerun.

    An unchanged agent fails some case that passed all three baseline trials in half to nine tenths
    of the runs over 50 cases; a failure and two failed reruns come up in 7 to 22 % of them.

    Args:
        trials: The candidate's verdicts so far, reruns included.
        baseline_solved: The case passed in every baseline trial; a mere majority lets several
            times as many false alarms through.
        confirmations: Reruns that must fail too.
    """
    if not baseline_solved or not trials or any(trials):
        return Decision(Outcome.CONTINUE, ("no regression: the case passes, or never did",))
    if len(trials) <= confirmations:
        missing = confirmations + 1 - len(trials)
        reason = f"possible regression: rerun the case {missing} more before believing it"
        return Decision(Outcome.CONTINUE, (reason,), {"reruns_needed": missing})
    reason = f"a case the baseline solved failed {len(trials)} times in a row"
    return Decision(Outcome.STOP, (reason,), {"failed": len(trials)})
