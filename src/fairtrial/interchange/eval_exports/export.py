"""What a report on a run of eval tasks is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fairtrial.analysis.eval_reading import EvalReading
from fairtrial.interchange.experiment_exports.export import percent
from fairtrial.interchange.experiment_exports.visible_text import visible
from fairtrial.model.eval_task import VERIFIER
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.stats.passk import SuiteValue
from fairtrial.stats.proportion import Rate

_STREAM = 4_000
_CHANGE = 12_000


@dataclass(frozen=True, slots=True)
class EvalExport:
    """A run of eval tasks, ready to be written.

    Attributes:
        state: The experiment and where it stands.
        reading: What its trials came to.
        sentence: What the comparison of its two arms says; None when there is none.
        trials: Yields its trials, ordered by task, arm and number, from the first on at each call.
    """

    state: ExperimentState
    reading: EvalReading
    sentence: str | None
    trials: Callable[[], Iterator[Trial]]

    def unusual(self) -> Iterator[Trial]:
        """Yield the trials that did not pass, ran over their time or saw what they must not."""
        told = {(one.task, one.arm, one.trial) for one in self.reading.told}
        for trial in self.trials():
            if (trial.key.case_id, trial.key.arm, trial.key.trial) in told:
                yield trial


def share(value: SuiteValue) -> str:
    """Return a share as a percentage, with the number of tasks where some have none."""
    if value.estimate is None:
        return "–"
    of = "" if value.n == value.n_total else f" ({value.n} of {value.n_total} tasks)"
    return f"{percent(value.estimate)}{of}"


def interval(rate: Rate) -> str:
    """Return the interval of a pass rate, or why it has none."""
    if rate.interval is None:
        return f"no interval: {rate.reason}"
    low, high = percent(rate.interval.lower), percent(rate.interval.upper)
    return f"{rate.interval.level * 100:g} % interval {low} to {high}"


def change_of(trial: Trial) -> str | None:
    """Return what an agent changed, as visible text; None when that is not known."""
    output = trial.output if isinstance(trial.output, Mapping) else {}
    if isinstance(output.get("patch"), str):
        return _cut(output["patch"], _CHANGE) or "(nothing)"
    return "(a change that is no text)" if "patch_base64" in output else None


def printed_of(trial: Trial) -> str | None:
    """Return the end of what the verifier printed, as visible text; None for nothing."""
    for score in trial.scores:
        detail: Json = score.detail
        if score.grader == VERIFIER and isinstance(detail, Mapping):
            streams = (str(detail.get(name) or "").strip("\n") for name in ("stdout", "stderr"))
            parts = [visible(text[-_STREAM:]) for text in streams if text]
            return "\n".join(parts) or None
    return None


def _cut(text: str, most: int) -> str:
    left = len(text) - most
    return visible(text[:most].rstrip("\n")) + (f"\n… {left:,} more characters" if left > 0 else "")
