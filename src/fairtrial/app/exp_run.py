"""`exp run`: plan, open or resume, run, report."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from ulid import ULID

from fairtrial.app.attempting import attempting_of
from fairtrial.app.bench import Bench
from fairtrial.app.copying import copies_of, n_copied
from fairtrial.app.crashes import crash_log
from fairtrial.app.designing import STAGED, confirming_of, design_of, known_outcomes
from fairtrial.app.estimating import estimate
from fairtrial.app.matrix_cells import cells_given
from fairtrial.app.planning import selected_by, spec_to_store
from fairtrial.app.provenance import provenance
from fairtrial.app.replay_arms import CONTROL, runs_alone
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.plan import PlannedCell, PlanReport
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.resuming import Intent, intent_of
from fairtrial.app.run_report import run_report
from fairtrial.app.spending import budget_of
from fairtrial.app.timelines import with_timelines
from fairtrial.engine.plan import Arm, Plan
from fairtrial.engine.run import Due, Machinery, World, run
from fairtrial.engine.stages import slot_key
from fairtrial.executors.local import LocalExecutor
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader
from fairtrial.model.errors import StoreError
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.json import Json, content_hash
from fairtrial.model.trial import MAIN_ARM, TrialKey
from fairtrial.ports import CallRecorder, Surroundings
from fairtrial.tasks.registry import build_task
from fairtrial.workspaces.host.client import HostWorkspace

SHOWN_SLOTS = 5
_NOTHING_LEFT = "nothing to resume: every trial is on record"


@dataclass(frozen=True, slots=True)
class Birth:
    """What another verb decides of the experiment that it lets run.

    Attributes:
        id: Its id; None draws one.
        facts: Further keys of its spec.
        before: Called just before it is opened.
        source: What makes it, where its spec does not tell.
    """

    id: str | None = None
    facts: Mapping[str, Json] = field(default_factory=dict)
    before: Callable[[], None] = lambda: None
    source: str | None = None


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
    intent = intent_of(bench, request, arms)
    if request.dry_run or request.matrix.plan:
        return _plan_report(bench, intent, request)
    return carry_out(bench, request, intent)


def carry_out(
    bench: Bench, request: Request, intent: Intent, birth: Birth | None = None
) -> ExperimentReport:
    """Run what an intent leaves to run, and report; when nothing is left, only report.

    Args:
        bench: The workbench.
        request: What was asked for.
        intent: What `intent_of` made of it.
        birth: What is decided of a new experiment; None reads it off the request.

    Raises:
        RefusedError: another process is at it, or it would cost more than it may.
        StoreError: the store cannot be read or written.
    """
    if intent.state is not None and _is_whole(request, intent):
        return _whole(bench, request, intent, intent.state)
    return run_intent(bench, request, intent, birth or _birth(bench, request))


def _birth(bench: Bench, request: Request) -> Birth:
    cells = cells_given(request)
    return Birth() if cells is None else Birth(facts=cells.facts(bench.clock.now()))


def run_intent(
    bench: Bench, request: Request, intent: Intent, birth: Birth | None = None
) -> ExperimentReport:
    """Run what is left of an intent, and report; a new experiment is born as said.

    Raises:
        RefusedError: another process is at it, or it would cost more than it may.
        StoreError: the store cannot be read or written.
    """
    due = _due(bench, request, intent, birth or Birth())
    machinery = _machinery(bench, intent, due, cache=_cached(intent))
    try:
        run(due, machinery, _world(bench, intent), bench.control)
    except StoreError as error:
        sweep = due.experiment.spec.get("sweep")
        of = (
            f"run --resume {due.experiment.id}"
            if sweep is None
            else f"sweep --resume {sweep['race']}"
        )
        resume = f"fairtrial exp {of}"
        error.fix = f"{error.fix}; if trials were recorded, go on with: {resume}"
        raise
    state = bench.store.experiments.find(due.experiment.id)
    report = run_report(bench, state, intent.plan)
    return with_timelines(bench, report, session=request.session)


def _is_whole(request: Request, intent: Intent) -> bool:
    """Return whether there is nothing left to run of what is resumed."""
    if intent.plan.design.get("kind") not in STAGED:
        return len(intent.kept) == intent.plan.n_planned
    finished = intent.state is not None and intent.state.status is Status.FINISHED
    return finished and not request.retry_errors


def _whole(
    bench: Bench, request: Request, intent: Intent, state: ExperimentState
) -> ExperimentReport:
    """Report what has every trial; a run that ended before it was closed is closed now.

    Raises:
        RefusedError: another process is about to close it.
    """
    if state.status is Status.FINISHED:
        return run_report(bench, state, intent.plan, _NOTHING_LEFT)
    store, name = bench.store.experiments, state.experiment.id
    store.reopen(name, intent.plan.policy.content(), bench.clock.now())
    store.close_experiment(name, Status.FINISHED, None, bench.clock.now())
    report = run_report(bench, store.find(name), intent.plan, _NOTHING_LEFT)
    return with_timelines(bench, report, session=request.session)


def _due(bench: Bench, request: Request, intent: Intent, birth: Birth) -> Due:
    store, plan = bench.store.experiments, intent.plan
    budget = budget_of(bench, plan, intent.state, plan.n_planned - len(intent.kept))
    design = design_of(bench, plan)
    if intent.state is None:
        experiment = _new_experiment(bench, request, intent, birth)
        positions = [case.position for case in plan.cases]

        def begin() -> None:
            birth.before()
            store.open_experiment(experiment, positions)

        return Due(
            plan,
            experiment,
            begin,
            design=design,
            budget=budget,
        )
    resumed = intent.state.experiment
    policy = plan.policy.content()
    return Due(
        plan,
        resumed,
        lambda: store.reopen(resumed.id, policy, bench.clock.now()),
        intent.kept,
        design=design,
        known=known_outcomes(bench, intent.state, intent.kept) if design else {},
        budget=budget,
    )


def _cached(intent: Intent) -> bool:
    """Return whether answers are kept: not where two arms run one task.

    A kept answer of one arm would be the other's too, and their noise would look like none.
    """
    tasks = {content_hash(arm.task.content()) for arm in intent.plan.arms}
    return not intent.plan.policy.no_cache and len(tasks) == len(intent.plan.arms)


def _machinery(bench: Bench, intent: Intent, due: Due, *, cache: bool) -> Machinery:
    workspace = HostWorkspace(slots=2 * intent.plan.policy.concurrency)
    surroundings = bench.surroundings(intent.folder, workspace, cache=cache)
    graders = tuple(
        build_grader(spec, surroundings, f"grader {spec.name}") for spec in intent.plan.graders
    )
    attempting, critics = attempting_of(intent.plan, surroundings)
    return Machinery(
        tasks={
            arm.name: build_task(
                arm.task, _placed(surroundings, intent.plan, arm), f"task of arm {arm.name}"
            )
            for arm in intent.plan.arms
        },
        graders=(*graders, *critics),
        grade=functools.partial(grade_all, graders),
        workspace=workspace,
        attempting=attempting,
        confirming=confirming_of(due.design),
        recorder=_recorder(bench, intent.plan, due.experiment.id),
        copy_of=copies_of(bench, due.experiment),
    )


def _placed(surroundings: Surroundings, plan: Plan, arm: Arm) -> Surroundings:
    """Return the surroundings of an arm: a recorded task keeps its own folder."""
    folder = plan.calls.get("folder")
    if folder is None or arm.name != CONTROL:
        return surroundings
    return replace(surroundings, base_dir=Path(folder))


def _recorder(bench: Bench, plan: Plan, experiment_id: str) -> CallRecorder | None:
    if not plan.calls.get("record"):
        return None
    # A proxy is imported by no run that needs none.
    from fairtrial.app.call_recording import recorder_of  # noqa: PLC0415

    return recorder_of(bench, plan, experiment_id)


def _world(bench: Bench, intent: Intent) -> World:
    plan, datasets = intent.plan, bench.store.datasets
    return World(
        store=bench.store.experiments,
        load=lambda positions: datasets.cases(plan.dataset, positions),
        executor=LocalExecutor(1 if runs_alone(plan.arms, plan.calls) else plan.policy.concurrency),
        clock=bench.clock,
        publish=bench.publish,
        crash_log=functools.partial(crash_log, bench.home / "crashes.log"),
    )


def _new_experiment(bench: Bench, request: Request, intent: Intent, birth: Birth) -> Experiment:
    plan = intent.plan
    return Experiment(
        id=birth.id or f"exp_{ULID()}",
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
            **birth.facts,
        },
        policy=plan.policy.content(),
        identity=plan.identity,
        provenance=provenance(bench.cwd, bench.environ, birth.source),
        created_at=bench.clock.now(),
        series=request.series,
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
        cells=_planned_cells(bench, request, intent),
    )


def _planned_cells(bench: Bench, request: Request, intent: Intent) -> tuple[PlannedCell, ...]:
    """Return the cells of a matrix, each with what it would run; with `--plan` each is checked."""
    birth = _birth(bench, request)
    changes = birth.facts.get("cells", {})
    if not changes:
        return ()
    plan = intent.plan
    if request.matrix.plan:
        surroundings = bench.surroundings(intent.folder, HostWorkspace(slots=1), cache=False)
        for arm in plan.arms:
            build_task(arm.task, surroundings, f"cell {arm.name}")
    keys = [key for key in map(slot_key, plan.slots()) if key not in intent.kept]
    copied = n_copied(bench, _new_experiment(bench, request, intent, birth), keys)
    due = Counter(key.arm for key in keys)
    return tuple(
        PlannedCell(arm.name, changes[arm.name], due[arm.name], copied.get(arm.name, 0))
        for arm in plan.arms
    )
