"""`exp run`: plan, open or resume, run, report."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path

from ulid import ULID

from fairtrial.app.bench import Bench
from fairtrial.app.crashes import crash_log
from fairtrial.app.estimating import estimate
from fairtrial.app.planning import (
    base_dir,
    plan_of,
    plan_of_stored,
    selected_by,
    spec_to_store,
)
from fairtrial.app.provenance import provenance
from fairtrial.app.release_gate import with_gate
from fairtrial.app.reports.experiment import ExperimentReport, experiment_report
from fairtrial.app.reports.plan import PlanReport
from fairtrial.app.reports.status import regrade_command
from fairtrial.app.requests.exp_run import NEWEST, Request, Setup
from fairtrial.app.spending import budget_of
from fairtrial.engine.plan import Plan
from fairtrial.engine.run import Due, Machinery, World, run
from fairtrial.executors.local import LocalExecutor
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader
from fairtrial.model.errors import NotFoundError, StoreError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import content_hash
from fairtrial.model.trial import MAIN_ARM, TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.schema.fields import options_of
from fairtrial.tasks.registry import build_task
from fairtrial.workspaces.host.client import HostWorkspace

UNDECIDED_CAUSES = frozenset({Cause.INFRA, Cause.UNDECIDABLE, Cause.INTERNAL})
"""What a resume runs again: these trials say nothing about the arm."""
SHOWN_SLOTS = 5


@dataclass(frozen=True, slots=True)
class Intent:
    """A plan, where its relative paths start, and the experiment it continues, if any."""

    plan: Plan
    folder: Path
    state: ExperimentState | None
    kept: frozenset[TrialKey]


def exp_run(bench: Bench, request: Request) -> ExperimentReport | PlanReport:
    """Run an experiment, or continue one; with `dry_run`, only say what would run.

    Raises:
        UsageError: something is missing or wrong, or no case is left.
        NotFoundError: a dataset or an experiment does not exist.
        RefusedError: another process is running the experiment to be resumed, or it would cost
            more than it may.
        StoreError: the store cannot be read or written.
    """
    return run_arms(bench, request, (MAIN_ARM,))


def run_arms(bench: Bench, request: Request, arms: Sequence[str]) -> ExperimentReport | PlanReport:
    """Run an experiment whose arms all have the task of the request; else as `exp_run`."""
    intent = _intent(bench, request, arms)
    if request.dry_run:
        return _plan_report(bench, intent, request)
    store = bench.store.experiments
    if intent.state and len(intent.kept) == intent.plan.n_planned:
        nothing = "nothing to resume: every trial is on record"
        return with_gate(bench, experiment_report(store, intent.state, nothing))
    due = _due(bench, request, intent)
    try:
        run(
            due,
            _machinery(bench, intent, cache=_cached(request, intent)),
            _world(bench, intent),
            bench.control,
        )
    except StoreError as error:
        resume = f"fairtrial exp run --resume {due.experiment.id}"
        error.fix = f"{error.fix}; if trials were recorded, go on with: {resume}"
        raise
    return with_gate(bench, experiment_report(store, store.find(due.experiment.id)))


def _due(bench: Bench, request: Request, intent: Intent) -> Due:
    store, plan = bench.store.experiments, intent.plan
    budget = budget_of(bench, plan, intent.state, plan.n_planned - len(intent.kept))
    if intent.state is None:
        experiment = _new_experiment(bench, request, intent)
        positions = [case.position for case in plan.cases]
        return Due(
            plan,
            experiment,
            lambda: store.open_experiment(experiment, positions),
            budget=budget,
        )
    resumed = intent.state.experiment
    policy = plan.policy.content()
    return Due(
        plan,
        resumed,
        lambda: store.reopen(resumed.id, policy, bench.clock.now()),
        intent.kept,
        budget=budget,
    )


def _intent(bench: Bench, request: Request, arms: Sequence[str]) -> Intent:
    if request.retry_errors and request.resume in (None, NEWEST):
        raise UsageError(
            "--retry-errors needs to know which experiment",
            fix="name it: --resume EXPERIMENT --retry-errors",
        )
    if request.resume is None:
        return Intent(plan_of(bench, request, arms), base_dir(bench, request), None, frozenset())
    described = request.dataset is not None or request.task is not None
    if not described:
        _refuse_ignored(request)
    plan = plan_of(bench, request, arms) if described else None
    state = _to_resume(bench, request.resume, plan)
    experiment = state.experiment
    if plan is not None and plan.identity != experiment.identity:
        raise UsageError(
            f"{experiment.id} is another experiment than this spec describes",
            why="its dataset, cases, task, graders or trials differ",
            fix=f"resume it as it was: fairtrial exp run --resume {experiment.id}",
        )
    stored = plan_of_stored(bench, experiment, request)
    return Intent(stored, Path(experiment.spec["base_dir"]), state, _kept(bench, request, state))


def _refuse_ignored(request: Request) -> None:
    """Refuse what a resume takes from the store: it would look as if it counted."""
    ignored = [
        option.flag
        for option in options_of(Setup)
        if option.path[0] not in ("limits", "resume")
        and attrgetter(".".join(option.path))(request) != option.default
    ]
    if ignored:
        raise UsageError(
            f"{', '.join(ignored)} cannot change what is resumed",
            why="a resume runs the same cases, task, graders and trials as before",
            fix="leave it out, or start a new experiment without --resume",
        )


def _to_resume(bench: Bench, ref: str, plan: Plan | None) -> ExperimentState:
    if ref != NEWEST:
        return _resumable(bench.store.experiments.find(ref))
    unfinished = [
        state
        for state in bench.store.experiments.unfinished(plan.identity if plan else None)
        if state.experiment.regrade_of is None and not state.experiment.measured
    ]
    if not unfinished:
        what = "with this dataset, task and graders " if plan else ""
        raise NotFoundError(
            f"no unfinished experiment {what}to resume",
            fix="see them all with: fairtrial exp list",
        )
    return unfinished[0]


def _resumable(state: ExperimentState) -> ExperimentState:
    if state.experiment.regrade_of is not None:
        raise UsageError(
            f"{state.experiment.id} has no task to run: it grades stored outputs again",
            fix=f"start it anew: {regrade_command(state.experiment)}",
        )
    if state.experiment.measured:
        raise UsageError(
            f"{state.experiment.id} measures commands in pairs, which cannot be resumed",
            fix="run its `fairtrial exp metrics` command again",
        )
    return state


def _kept(bench: Bench, request: Request, state: ExperimentState) -> frozenset[TrialKey]:
    """Return the recorded trials that are not run again."""
    store, experiment_id = bench.store.experiments, state.experiment.id
    kept = store.recorded_keys(experiment_id)
    again: frozenset[Cause] = frozenset()
    if state.status is not Status.FINISHED or request.retry_errors:
        again |= UNDECIDED_CAUSES
    if request.retry_errors:
        again |= {Cause.TASK}
    return frozenset(kept - store.recorded_keys(experiment_id, again) if again else kept)


def _cached(request: Request, intent: Intent) -> bool:
    """Return whether answers are kept: not where two arms run one task.

    A kept answer of one arm would be the other's too, and their noise would look like none.
    """
    tasks = {content_hash(arm.task.content()) for arm in intent.plan.arms}
    return not request.caching.no_cache and len(tasks) == len(intent.plan.arms)


def _machinery(bench: Bench, intent: Intent, *, cache: bool) -> Machinery:
    workspace = HostWorkspace(slots=2 * intent.plan.policy.concurrency)
    surroundings = bench.surroundings(intent.folder, workspace, cache=cache)
    graders = tuple(
        build_grader(spec, surroundings, f"grader {spec.name}") for spec in intent.plan.graders
    )
    return Machinery(
        tasks={
            arm.name: build_task(arm.task, surroundings, f"task of arm {arm.name}")
            for arm in intent.plan.arms
        },
        graders=graders,
        grade=functools.partial(grade_all, graders),
        workspace=workspace,
    )


def _world(bench: Bench, intent: Intent) -> World:
    plan, datasets = intent.plan, bench.store.datasets
    return World(
        store=bench.store.experiments,
        load=lambda positions: datasets.cases(plan.dataset, positions),
        executor=LocalExecutor(plan.policy.concurrency),
        clock=bench.clock,
        publish=bench.publish,
        crash_log=functools.partial(crash_log, bench.home / "crashes.log"),
    )


def _new_experiment(bench: Bench, request: Request, intent: Intent) -> Experiment:
    plan = intent.plan
    return Experiment(
        id=f"exp_{ULID()}",
        name=request.name or plan.dataset.dataset,
        dataset=plan.dataset.dataset,
        dataset_number=plan.dataset.number,
        dataset_digest=plan.dataset.digest,
        arms=tuple(arm.name for arm in plan.arms),
        trials=plan.trials,
        n_cases=len(plan.cases),
        seed=plan.seed,
        spec={
            **spec_to_store(plan, intent.folder, selected_by(bench, request)),
            **({"gate": list(request.gate)} if request.gate else {}),
        },
        policy=plan.policy.content(),
        identity=plan.identity,
        provenance=provenance(bench.cwd, bench.environ),
        created_at=bench.clock.now(),
    )


def _plan_report(bench: Bench, intent: Intent, request: Request) -> PlanReport:
    from fairtrial.app.noise import smallest_effect_of  # noqa: PLC0415  # only a plan needs numpy

    plan = intent.plan
    due = (
        (slot.case.id, slot.case.condition, slot.arm, slot.trial)
        for slot in plan.slots()
        if TrialKey(slot.case.id, slot.case.condition, slot.arm, slot.trial) not in intent.kept
    )
    return PlanReport(
        name=request.name or plan.dataset.dataset,
        dataset=plan.dataset.ref,
        spec=plan.spec(),
        policy=plan.policy.content(),
        n_cases=len(plan.cases),
        n_dataset=plan.dataset.n_cases,
        n_planned=plan.n_planned,
        n_kept=len(intent.kept),
        seed=plan.seed,
        identity=plan.identity,
        first=tuple(islice(due, SHOWN_SLOTS)),
        smallest_effect=smallest_effect_of(bench, plan),
        resumes=intent.state.experiment.id if intent.state else None,
        cost=estimate(bench, plan, plan.n_planned - len(intent.kept)),
    )
