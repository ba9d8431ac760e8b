"""Holds a stored experiment against the rules of a release gate."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.analysis.gate.facts import GateFacts
from fairtrial.analysis.gate.release import decide_release, evaluate
from fairtrial.app.baselines import project_key
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, baseline_arm
from fairtrial.app.gate_rules import Rules, asks_for_baseline, asks_for_passes, gate_rules
from fairtrial.app.platform_faults import caused_by_platform
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.gate import GateReport
from fairtrial.model.baseline import Baseline
from fairtrial.model.columns import PairedRows
from fairtrial.model.comparison import Comparison
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState


def project_rules(bench: Bench, graders: tuple[str, ...] | None = None) -> Rules:
    """Return the rules of this project; none when it has none."""
    stored = bench.store.settings.get(project_key(bench, "gate"))
    return gate_rules(stored or [], "the project's rules", graders)


def grader_names(experiment: Experiment) -> tuple[str, ...]:
    """Return the names of an experiment's graders, in the order of its spec."""
    return tuple(grader["name"] for grader in experiment.spec.get("graders", ()))


def judge(
    bench: Bench,
    state: ExperimentState,
    rules: tuple[Rules, str],
    *,
    given: str | None = None,
    arm: str | None = None,
) -> GateReport:
    """Hold an experiment against rules.

    Args:
        bench: The workbench.
        state: The experiment.
        rules: The rules, and where they come from.
        given: What to compare with; None looks for the baseline.
        arm: The arm to judge; None is the last.

    Raises:
        NotFoundError: there is no such arm, or no such baseline.
    """
    experiment = state.experiment
    if experiment.measured:
        raise UsageError(f"{experiment.id} measures commands and judges nothing")
    judged = _arm(experiment, arm)
    baseline: Baseline | None = None
    against: ChosenArm | None = None
    if asks_for_baseline(rules[0]):
        against, baseline = baseline_arm(bench, ChosenArm(state, judged), given)
    facts = _facts(bench, ChosenArm(state, judged), against, baseline, rules[0])
    results = evaluate(rules[0], facts)
    return GateReport(state, judged, rules[1], baseline, results, decide_release(results, facts))


def with_gate(bench: Bench, report: ExperimentReport) -> ExperimentReport:
    """Return a report with what the rules of the experiment's own spec say, if it has any."""
    own = report.state.experiment.spec.get("gate")
    if not own:
        return report
    graders = grader_names(report.state.experiment)
    rules = gate_rules(own, "the experiment's rules", graders)
    return replace(report, gate=judge(bench, report.state, (rules, "spec")))


def _arm(experiment: Experiment, arm: str | None) -> str:
    if arm is None:
        return experiment.arms[-1]
    if arm not in experiment.arms:
        known = ", ".join(experiment.arms)
        raise NotFoundError(f"{experiment.name} has no arm {arm}", fix=f"it has: {known}")
    return arm


def _facts(
    bench: Bench,
    mine: ChosenArm,
    against: ChosenArm | None,
    baseline: Baseline | None,
    rules: Rules,
) -> GateFacts:
    store = bench.store.experiments
    experiment = mine.state.experiment
    other = against or mine
    rows = store.paired_rows((other.state.experiment.id, other.arm), (experiment.id, mine.arm))
    comparison, selection = (None, "") if against is None else _comparison(against, mine, rows)
    return GateFacts(
        state=mine.state,
        rows=rows.b,
        labels=rows.labels,
        grader_passes={
            grader: store.grader_passes(experiment.id, mine.arm, grader)
            for grader in asks_for_passes(rules)
        },
        platform=caused_by_platform(bench, mine),
        comparison=comparison,
        no_comparison=baseline.sentence if baseline is not None else "",
        selection=selection,
    )


def _comparison(a: ChosenArm, b: ChosenArm, rows: PairedRows) -> tuple[Comparison, str]:
    # numpy: only rules about deltas need it
    from fairtrial.analysis.comparing.comparability import Input  # noqa: PLC0415
    from fairtrial.analysis.comparing.compare import compare  # noqa: PLC0415

    sides = (Input(a.state, a.arm, "the baseline"), Input(b.state, b.arm, b.state.experiment.name))
    found = compare(*sides, rows)
    selection = found.comparability.selection
    return found.comparison, "" if selection is None else selection.what
