"""Writes the trials of a session into experiments, and says what they came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import pytest
from ulid import ULID

from fairtrial.app.baselines import baseline_of
from fairtrial.app.bench import Bench
from fairtrial.app.provenance import provenance
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.engine.plan import Arm, Plan, Policy
from fairtrial.graders.registry import grader_specs
from fairtrial.interchange.experiment_exports.export import headline, percent
from fairtrial.model.errors import ExitCode, FairtrialError, StoreError
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.ports import RowQuery
from fairtrial.sdk.comparison import Comparison
from fairtrial.sdk.words import size
from fairtrial.tasks.registry import task_spec

_SHOWN: Final = 10
_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Head:
    """What an experiment of pytest is, as the process that runs it tells.

    Attributes:
        key: Where the test is.
        name: The name of the experiment.
        dataset: The version that its cases are, `NAME@NUMBER`.
        positions: The selected cases in it.
        arms: The task of each arm, as JSON.
        graders: The graders, as JSON.
        trials: Trials a case and arm.
        threshold: The pass rate over all cases must reach it.
    """

    key: str
    name: str
    dataset: str
    positions: Sequence[int]
    arms: Mapping[str, Json]
    graders: Sequence[Json]
    trials: int
    threshold: float | None


@dataclass
class _Kept:
    """An experiment of this session.

    Attributes:
        head: What it is.
        experiment: As it is stored.
        trials: How many trials came.
        report: What it came to, once it is closed.
        comparison: It against its baseline; None when there is none.
        lines: What else is said of it.
        bad: Why it fails the session; None when it does not.
    """

    head: Head
    experiment: Experiment
    trials: int = 0
    report: ExperimentReport | None = None
    comparison: ComparisonReport | None = None
    lines: list[str] = field(default_factory=list)
    bad: str | None = None


class Recorder:
    """The one writer of a session's experiments."""

    def __init__(self, config: pytest.Config, bench: Bench) -> None:
        self._bench = bench
        self._baseline: str | None = config.option.fairtrial_baseline
        self._gate = bool(config.option.fairtrial_gate)
        self._kept: dict[str, _Kept] = {}
        self._trouble: dict[str, None] = {}  # in the order in which it came, each once

    def take(self, message: Mapping[str, str]) -> None:
        """Write the trials of one row; the first of an experiment opens it."""
        try:
            if "trouble" in message:
                raise StoreError(message["trouble"])
            kept = self._kept.get(message["key"])
            if kept is None:
                if "head" not in message:
                    return  # it could not be opened, which is told already
                # Each process tells it before its first trials.
                head = msgspec.json.decode(message["head"], type=Head)
                kept = self._kept[head.key] = self._open(head)
            trials = msgspec.json.decode(message["trials"], type=list[Trial])
            now = self._bench.clock.now()
            self._bench.store.experiments.record(kept.experiment.id, trials, now)
            kept.trials += len(trials)
        except FairtrialError as error:
            self._trouble[f"{message['key']}: not stored: {error}"] = None

    def _open(self, head: Head) -> _Kept:
        dataset = self._bench.store.datasets.version(head.dataset)
        outlines = tuple(self._bench.store.datasets.outline(dataset))
        plan = Plan(
            dataset=dataset,
            cases=tuple(outlines[place] for place in head.positions),
            arms=tuple(Arm(name, task_spec(task, name)) for name, task in head.arms.items()),
            graders=grader_specs(head.graders, "graders"),
            trials=head.trials,
            seed=0,
            policy=Policy(),
        )
        experiment = Experiment(
            id=f"exp_{ULID()}",
            name=head.name,
            dataset=dataset.dataset,
            dataset_number=dataset.number,
            dataset_digest=dataset.digest,
            arms=tuple(head.arms),
            trials=head.trials,
            n_cases=len(plan.cases),
            seed=0,
            spec={**plan.spec(), "base_dir": str(self._bench.cwd), "test": head.key},
            policy=plan.policy.content(),
            identity=plan.identity,
            provenance=provenance(self._bench.cwd, self._bench.environ, "pytest"),
            created_at=self._bench.clock.now(),
        )
        self._bench.store.experiments.open_experiment(experiment, head.positions)
        return _Kept(head, experiment)

    def finish(self) -> bool:
        """Close the experiments; return whether one of them fails the session."""
        for kept in self._kept.values():
            try:
                self._close(kept)
            except FairtrialError as error:
                kept.bad = str(error)
        return bool(self._trouble) or any(kept.bad for kept in self._kept.values())

    def _close(self, kept: _Kept) -> None:
        store, experiment = self._bench.store.experiments, kept.experiment
        whole = kept.trials >= experiment.n_planned
        reason = None if whole else f"{kept.trials:,} of {experiment.n_planned:,} trials ran"
        status = Status.FINISHED if whole else Status.STOPPED
        store.close_experiment(experiment.id, status, reason, self._bench.clock.now())
        state = store.find(experiment.id)
        kept.report = experiment_report(store, state)
        kept.bad = self._below(kept) or self._against(kept)

    def _below(self, kept: _Kept) -> str | None:
        """Return why an experiment is below its bar; None when it is not."""
        assert kept.report is not None  # noqa: S101  # it was closed
        rate, threshold = kept.report.pass_rate, kept.head.threshold
        if rate.estimate is None:
            return f"no verdict: {rate.reason}"
        if threshold is None:
            return None
        arms = {arm: self._counts(kept, arm) for arm in kept.experiment.arms}
        for arm, (share, decided, rows) in arms.items():
            of = "" if len(arms) == 1 else f" of {arm}"
            if share is None:
                return f"no verdict{of}"
            if share < threshold - _TOLERANCE:
                return f"the pass rate{of}, {percent(share)}, is below {percent(threshold)}"
            # What has no verdict could have failed: a broken world makes no pass.
            if share * decided / rows < threshold - _TOLERANCE:
                return (
                    f"undecided{of}: {rows - decided:,} of {rows:,} cases have no verdict, and "
                    f"{percent(threshold)} would not be reached if they failed"
                )
        return None

    def _counts(self, kept: _Kept, arm: str) -> tuple[float | None, int, int]:
        """Return the pass rate of an arm, its cases with a verdict, and all that ran."""
        store, name = self._bench.store.experiments, kept.experiment.id
        counts = store.outcome_counts(name, arm)
        decided = {key: n for key, n in counts.items() if key[1]}
        n = sum(decided.values())
        if not n:
            return None, 0, kept.experiment.n_cases
        share = sum(rows * passed / of for (passed, of), rows in decided.items()) / n
        return share, n, store.n_rows(name, RowQuery(arm=arm))

    def _against(self, kept: _Kept) -> str | None:
        """Compare with the baseline; return why the gate holds, None when it does not."""
        # Only who has a baseline needs numpy.
        from fairtrial.app.exp_compare import compared  # noqa: PLC0415
        from fairtrial.app.requests.exp_compare import Gate, Request  # noqa: PLC0415

        experiment = kept.experiment
        ship = Gate(gate=self._gate)
        try:
            if len(experiment.arms) > 1:
                a, b = (f"{experiment.id}:{experiment.arms[place]}" for place in (0, -1))
                request = Request(a, b, ship=ship)
            else:
                state = self._bench.store.experiments.find(experiment.id)
                baseline = baseline_of(self._bench, state, self._baseline).state
                if baseline is None:
                    kept.lines.append("no baseline to compare with")
                    return "the gate needs a baseline" if self._gate else None
                request = Request(baseline.experiment.id, experiment.id, ship=ship)
            kept.comparison = compared(self._bench, request)[1]
        except FairtrialError as error:
            kept.lines.append(f"not compared: {error.what}")
            return error.what if self._gate or self._baseline else None
        decision = kept.comparison.decision
        if decision is None or decision.exit_code is ExitCode.OK:
            return None
        return f"the gate says {decision.outcome.value}: {decision.reasons[0]}"

    def summarize(self, terminal: Any) -> None:
        """Print what each experiment came to."""
        if not self._kept and not self._trouble:
            return
        terminal.section("fairtrial")
        for kept in self._kept.values():
            self._summarize(kept, terminal)
        for trouble in self._trouble:
            terminal.write_line(trouble, red=True)

    def _summarize(self, kept: _Kept, terminal: Any) -> None:
        experiment = kept.experiment
        terminal.write_line(f"{_line(experiment.name)}  {experiment.id}", bold=True)
        if kept.report is not None:
            totals = kept.report.state.totals
            terminal.write_line(
                f"  {size(experiment)}: {totals.passed:,} passed, {totals.failed:,} failed, "
                f"{totals.undecided:,} undecided"
            )
            if kept.report.state.status_reason:
                terminal.write_line(f"  {kept.report.state.status_reason}")
            rates = kept.report.arms or {"": kept.report.pass_rate}
            for arm, rate in rates.items():
                terminal.write_line(f"  {_line(arm)}{': ' if arm else ''}{headline(rate)}")
            if kept.head.threshold is not None:
                terminal.write_line(f"  needed: {percent(kept.head.threshold)}")
        if kept.comparison is not None:
            for line in Comparison(kept.comparison).lines():
                terminal.write_line(f"  {_line(line)}")
        for line in kept.lines:
            terminal.write_line(f"  {_line(line)}")
        if kept.bad is not None:
            terminal.write_line(f"  ✗ {_line(kept.bad)}", red=True)


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
