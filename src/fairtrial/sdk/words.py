"""What notebooks, scripts and pytest's summary word alike."""

from __future__ import annotations

from fairtrial.interchange.experiment_exports.visible_text import one_line
from fairtrial.model.comparison import Compared
from fairtrial.model.experiment import Experiment
from fairtrial.model.trial import MAIN_ARM

_LONGEST = 100


def size(experiment: Experiment) -> str:
    """Return what was planned, e.g. `3 cases × 1 trial of colours@1`."""
    cases = _counted(experiment.n_cases, "case")
    trials = _counted(experiment.trials, "trial")
    return f"{cases} × {trials} of {one_line(experiment.on_dataset, 2 * _LONGEST)}"


def named(side: Compared) -> str:
    """Return one side of a comparison: its name, its arm when it has one, and its id."""
    name = side.name if side.arm == MAIN_ARM else f"{side.name}:{side.arm}"
    return f"{one_line(name, _LONGEST)} ({side.id})"


def _counted(n: int, one: str) -> str:
    return f"1 {one}" if n == 1 else f"{n:,} {one}s"
