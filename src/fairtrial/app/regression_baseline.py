"""What a run with `--stop-on-regression` is held to: the cases that its baseline always passed."""

from __future__ import annotations

from pathlib import Path

from fairtrial.analysis.comparing.comparability import other_graders
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import find_arm
from fairtrial.engine.plan import Plan
from fairtrial.graders.scripts import script_digests
from fairtrial.model.case import CaseKey
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.ports import EVERY_ROW, RowQuery

WHERE = "--baseline"


def baseline_given(bench: Bench, ref: str) -> dict[str, Json]:
    """Return the arm that a run is to be held to, as it is stored with the run.

    Raises:
        NotFoundError: there is no such experiment.
        UsageError: it has no such arm, or no trial on record.
    """
    arm = find_arm(bench, ref)
    if not arm.state.totals.recorded:
        raise UsageError(
            f"{arm.label} has no trial on record",
            where=WHERE,
            fix="name a run that is finished: fairtrial exp list",
        )
    return {"baseline": arm.experiment.id, "arm": arm.arm}


def check_held(bench: Bench, plan: Plan, folder: Path) -> None:
    """Refuse a baseline that a run cannot be held to.

    Args:
        bench: The workbench.
        plan: The plan of the run, with its baseline in its design.
        folder: Where relative paths of the plan start.

    Raises:
        UsageError: it was graded otherwise, or no case could regress.
    """
    state = bench.store.experiments.find(plan.design["baseline"])
    experiment = state.experiment
    facts = {
        "graders": [grader.content() for grader in plan.graders],
        "grader_scripts": script_digests((grader, folder) for grader in plan.graders),
    }
    for problem in other_graders(experiment.spec, facts, (experiment.name, "this run")):
        raise UsageError(
            f"this run cannot be held to {experiment.name}",
            where=WHERE,
            why=problem.what,
            fix="use its graders, or grade its outputs with these: "
            f"fairtrial exp regrade {experiment.id}",
        )
    if not held_to(bench, plan):
        raise UsageError(
            f"no case of this run passed in every trial of {experiment.name}: none could regress",
            where=WHERE,
            why=_why(bench, plan, experiment),
            fix="name a run of the same cases that passed some: fairtrial exp list",
        )


def _why(bench: Bench, plan: Plan, experiment: Experiment) -> str:
    shared = _shared(bench, plan, experiment)
    if shared:
        return f"they share {len(shared):,} cases, and it did not always pass any of them"
    baseline = f"{experiment.dataset}@{experiment.dataset_number}"
    if baseline == plan.dataset.ref:
        return "they share no case"
    return f"they share no case of the same content ({baseline} and {plan.dataset.ref})"


def held_to(bench: Bench, plan: Plan) -> frozenset[CaseKey]:
    """Return the cases of a plan that passed in every trial of its baseline.

    A case whose content is another by now is none of them. Of a baseline that is not finished only
    those count that have all their trials.

    Raises:
        NotFoundError: the baseline is gone.
    """
    store = bench.store.experiments
    state = store.find(plan.design["baseline"])
    rows = store.rows(state.experiment.id, RowQuery(limit=EVERY_ROW, arm=plan.design["arm"]))
    least = _fewest_trials(state)
    solved = {row.key for row in rows if row.passed >= least and not row.failed + row.undecided}
    return frozenset(solved & _shared(bench, plan, state.experiment))


def _fewest_trials(state: ExperimentState) -> int:
    return 1 if state.status is Status.FINISHED else state.experiment.trials


def _shared(bench: Bench, plan: Plan, experiment: Experiment) -> set[CaseKey]:
    """Return the cases that both ran with the same content."""
    cases = {CaseKey(case.id, case.condition): case.digest for case in plan.cases}
    datasets = bench.store.datasets
    version = datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    outlines = tuple(datasets.outline(version))
    ran = (outlines[position] for position in bench.store.experiments.positions(experiment.id))
    before = {CaseKey(case.id, case.condition): case.digest for case in ran}
    return {key for key, digest in cases.items() if before.get(key) == digest}
