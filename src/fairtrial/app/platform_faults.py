"""What the platform left without a verdict: it is held against no arm."""

from __future__ import annotations

from fairtrial.analysis.verdict import PLATFORM
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.model.case import CaseKey
from fairtrial.model.verdict import Verdict
from fairtrial.ports import TrialFilter


def caused_by_platform(bench: Bench, mine: ChosenArm) -> frozenset[CaseKey]:
    """Return the rows of an arm all of whose undecided trials the platform caused."""
    if not mine.state.totals.undecided:
        return frozenset()
    where = TrialFilter(verdicts=frozenset({Verdict.UNDECIDED}), arm=mine.arm)
    platform: set[CaseKey] = set()
    others: set[CaseKey] = set()
    for trial in bench.store.experiments.trials(mine.experiment.id, where):
        (platform if trial.at_fault == PLATFORM else others).add(trial.key.case_key)
    return frozenset(platform - others)
