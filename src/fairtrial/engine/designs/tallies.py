"""What the trials of a case came to, for designs that decide by cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairtrial.engine.stages import Outcomes
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports import CaseOutline


def verdicts(
    outcomes: Outcomes, case: CaseOutline, arm: str, trials: Iterable[int]
) -> list[Verdict]:
    """Return the verdicts of some trials of a case, in the order of `trials`; missing ones not."""
    keys = (TrialKey(case.id, case.condition, arm, trial) for trial in trials)
    return [outcomes[key].verdict for key in keys if key in outcomes]


def passed_and_decided(found: Sequence[Verdict]) -> tuple[int, int]:
    """Return how many verdicts are passed, and how many are passed or failed."""
    passed = sum(verdict is Verdict.PASSED for verdict in found)
    return passed, passed + sum(verdict is Verdict.FAILED for verdict in found)
