"""What a run reports when it ends: its trials, its gate, its arms beside each other, its design."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.app.against_baseline import with_baseline
from fairtrial.app.bench import Bench
from fairtrial.app.design_readings import read_design
from fairtrial.app.designing import ADAPTIVE, HALVING
from fairtrial.app.matrix_reading import read_matrix
from fairtrial.app.release_gate import with_gate
from fairtrial.app.replay_readings import recording_note, replay_reading
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.engine.plan import Plan
from fairtrial.model.experiment import ExperimentState, Status


def run_report(
    bench: Bench, state: ExperimentState, plan: Plan, note: str | None = None
) -> ExperimentReport:
    """Return the report of a run that has ended; what compares its arms is kept.

    Raises:
        StoreError: the store cannot be read or written.
    """
    report = with_gate(bench, experiment_report(bench.store.experiments, state, note))
    return replace(
        with_baseline(bench, report),
        note=report.note or recording_note(bench, state),
        design=read_design(bench, state, plan),
        comparison=compared_arms(bench, state),
        matrix=read_matrix(bench, state),
        replay=replay_reading(bench, state),
    )


def compared_arms(bench: Bench, state: ExperimentState) -> ComparisonReport | None:
    """Compare the two arms of a finished run, and keep what is found.

    The same task twice is no comparison.
    """
    experiment = state.experiment
    kind = experiment.spec.get("design", {}).get("kind")
    if kind == HALVING:
        return None  # the winner is flattered by the race: nothing is compared on its cases
    if kind == ADAPTIVE:
        return None  # no interval holds for shares of trials whose number they decided
    if experiment.spec.get("cells"):
        return None  # a matrix has a table of its own
    if len(experiment.arms) != 2 or experiment.is_aa or state.status is not Status.FINISHED:
        return None
    # Only a run with two arms needs numpy.
    from fairtrial.app.exp_compare import compared  # noqa: PLC0415
    from fairtrial.app.requests.exp_compare import Request  # noqa: PLC0415

    first, second = (f"{experiment.id}:{arm}" for arm in experiment.arms)
    report = compared(bench, Request(a=first, b=second))[1]
    kept = {"schema": report.schema, "sentence": report.comparison.sentence, "json": report.json()}
    bench.store.settings.set(f"comparison:{experiment.id}", kept, bench.clock.now())
    return report
