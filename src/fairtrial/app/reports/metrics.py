"""What `exp metrics` says, and `exp show` of such an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.analysis.measured import Size
from fairtrial.analysis.run_pairs import (
    Changes,
    Measured,
    Pairs,
    Wanted,
    changes_of,
    pairs_of,
)
from fairtrial.app.reports.facts import state_json
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt
from fairtrial.ports import ExperimentStore


@dataclass(frozen=True, slots=True)
class MetricsReport:
    """Two commands, measured in pairs.

    Attributes:
        state: The experiment and where it stands.
        pairs: The pairs that ran.
        changes: What changed from A to B.
        notes: What to know about these numbers, a sentence each.
    """

    schema: ClassVar[str] = "fairtrial.metrics/1"

    state: ExperimentState
    pairs: Pairs
    changes: Changes
    notes: Sequence[str]

    @property
    def arms(self) -> tuple[str, str]:
        """The names of A and B."""
        a, b = self.state.experiment.arms
        return a, b

    @property
    def n_pairs(self) -> int:
        """Pairs that count."""
        return len(self.pairs.runs)

    @property
    def too_few(self) -> bool:
        """Whether no values whatsoever could give a verdict."""
        return self.n_pairs < self.changes.pairs_needed

    def named(self, verdict: str) -> list[str]:
        """Return the metrics of a verdict."""
        return [m.name for m in self.changes.metrics if m.change.verdict == verdict]

    @property
    def exit_code(self) -> ExitCode:
        """0, unless runs failed, the user stopped it, or `fail_on_worse` asks for more."""
        if self.state.status is Status.INTERRUPTED:
            return ExitCode.INTERRUPTED
        if self.state.status is Status.STOPPED or not self.changes.metrics or self.mostly_failed:
            return ExitCode.NO_VERDICT
        if not self.state.experiment.spec["metrics"]["fail_on_worse"]:
            return ExitCode.OK
        if self.named("worse"):
            return ExitCode.NEGATIVE
        return ExitCode.TOO_FEW if self.too_few else ExitCode.OK

    @property
    def mostly_failed(self) -> bool:
        """Whether more than half of the pairs had to be dropped: the rest is no fair choice."""
        return self.pairs.dropped > self.n_pairs

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            **state_json(self.state),
            "n_pairs": self.n_pairs,
            "n_dropped": self.pairs.dropped,
            "pairs_needed": self.changes.pairs_needed,
            "metrics": [_metric_json(metric) for metric in self.changes.metrics],
            "one_sided": dict(self.changes.one_sided),
            "failures": {arm: asdict(failed) for arm, failed in self.pairs.failures.items()},
            "notes": list(self.notes),
            "exit_code": self.exit_code,
        }


def metrics_report(store: ExperimentStore, state: ExperimentState) -> MetricsReport:
    """Return the report of a stored experiment that measures."""
    experiment = state.experiment
    a, b = experiment.arms
    settings = experiment.spec["metrics"]
    wanted = Wanted(tuple(settings["metric"]), tuple(settings["higher"]), settings["correction"])
    pairs = pairs_of(store.trials(experiment.id), (a, b))
    changes = changes_of(pairs, (a, b), wanted)
    return MetricsReport(state, pairs, changes, _notes(pairs, changes, wanted))


def _metric_json(metric: Measured) -> dict[str, Json]:
    found, tested = metric.change.change, metric.change.tested
    return {
        "name": metric.name,
        "lower_is_better": metric.change.lower_is_better,
        "verdict": metric.change.verdict.value,
        "scale": found.scale,
        "estimate": tested.estimate,
        "ci": _interval_json(tested),
        "ratio": _size_json(metric.change.ratio),
        "difference": _size_json(metric.change.difference),
        "p": None if found.p is None else found.p.value,
        "p_adjusted": metric.change.p_adjusted,
        "n": found.n,
        "n_missing": metric.missing,
        "a": None if metric.a is None else asdict(metric.a),
        "b": None if metric.b is None else asdict(metric.b),
        "reason": tested.reason or found.reason,
    }


def _size_json(size: Size) -> dict[str, Json]:
    return {"estimate": size.estimate, "ci": _interval_json(size), "reason": size.reason}


def _interval_json(size: Size) -> Json:
    return None if size.interval is None else asdict(size.interval)


def _notes(pairs: Pairs, changes: Changes, wanted: Wanted) -> list[str]:
    notes = []
    for arm, failed in pairs.failures.items():
        if failed.count:
            reason = f"; the first: {failed.first_reason}" if failed.first_reason else ""
            notes.append(f"{failed.count} of {failed.runs} runs of {arm} failed{reason}")
    if pairs.dropped:
        notes.append(f"pairs dropped because a run of theirs failed: {pairs.dropped}")
    if pairs.dropped > len(pairs.runs):
        notes.append("more than half of the pairs failed: what is left is no quality verdict")
    if not pairs.runs:
        notes.append("no pair ran to its end, so nothing can be compared")
        return notes
    runs = 2 * len(pairs.runs)
    notes += [
        f"{_named(name)} was no finite number in {count} of {runs} runs, and is left out there"
        for name, count in pairs.not_numbers.items()
        if wanted.includes(name)
    ]
    notes += [
        f"{_named(name)} is printed by {arm} only, so it cannot be compared"
        for name, arm in changes.one_sided.items()
        if name not in pairs.not_numbers
    ]
    notes += [
        f"{_named(m.name)} is missing in {m.missing} of {len(pairs.runs)} pairs"
        for m in changes.metrics
        if m.missing
    ]
    differing = [m.name for m in changes.metrics if m.change.change.scale == "difference"]
    if differing:
        names = ", ".join(_named(name) for name in differing)
        notes.append(f"no ratio of {names}: not all values are above 0")
    if not any(isinstance(t.output, dict) for pair in pairs.runs for t in pair):
        notes.append("neither command printed a JSON object: only what was measured is compared")
    if len(pairs.runs) < changes.pairs_needed:
        notes.append(_too_few(pairs, changes, wanted))
    return notes


def _named(metric: str) -> str:
    return repr(excerpt(metric, 60))


def _too_few(pairs: Pairs, changes: Changes, wanted: Wanted) -> str:
    metrics = len(changes.metrics)
    many = wanted.correction == "holm" and metrics > 1
    of = f"{metrics} metrics with Holm's correction need" if many else "a verdict needs"
    counted = "1 pair" if len(pairs.runs) == 1 else f"{len(pairs.runs)} pairs"
    less = ", or fewer with --metric" if many else ""
    return (
        f"no verdict is possible with {counted}, whatever the values: {of} "
        f"{changes.pairs_needed} at least{less}"
    )
