"""The trials behind the rows that count in a comparison."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairtrial.analysis.comparing.comparability import Input
from fairtrial.analysis.comparing.compare import Compare
from fairtrial.app.bench import Bench
from fairtrial.model.case import CaseKey
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.ports import TrialFilter

_DECIDED = frozenset({Verdict.PASSED, Verdict.FAILED})


def counted_rows(found: Compare) -> dict[CaseKey, int]:
    """Return the rows that count, sorted by key, each with its position among the shared ones."""
    positions = np.flatnonzero(found.pairs.counted).tolist()
    return dict(sorted((found.pairs.key(position), position) for position in positions))


def decided_trials(bench: Bench, side: Input) -> Iterator[Trial]:
    """Yield the trials of one side that have a verdict, by row and then by number."""
    where = TrialFilter(verdicts=_DECIDED, arm=side.arm)
    return bench.store.experiments.trials(side.state.experiment.id, where)
