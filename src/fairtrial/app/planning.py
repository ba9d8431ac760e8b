"""From a run request to a plan: names resolved, specs checked, cases selected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fairtrial.app.attempting import SEQ, critic_of
from fairtrial.app.bench import Bench
from fairtrial.app.designing import check_design, design_given, most_trials
from fairtrial.app.gate_rules import gate_rules
from fairtrial.app.matrix_cells import cell_arms, cells_given
from fairtrial.app.replay_arms import (
    CANDIDATE,
    CONTROL,
    calls_given,
    check_recordable,
    control_of,
    refuse_no_control,
)
from fairtrial.app.requests.exp_run import Request, Selection
from fairtrial.app.seeds import seed_or_drawn
from fairtrial.app.settling import settled_graders, settled_task
from fairtrial.app.task_arms import GivenArm, given_arms, settled_arms
from fairtrial.app.task_scripts import task_script_digests
from fairtrial.engine.plan import Arm, Plan, Policy, stored_policy
from fairtrial.engine.selection import Criteria, select, split_names
from fairtrial.graders.registry import grader_specs
from fairtrial.graders.scripts import script_digests
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.dataset import DatasetVersion
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import Experiment
from fairtrial.model.json import Json
from fairtrial.model.trial import MAIN_ARM
from fairtrial.model.verdict import Cause
from fairtrial.ports import EVERY_ROW, CaseOutline, RowQuery
from fairtrial.tasks.registry import check_shows_attempts, rehearse_task, task_spec

T = TypeVar("T")


def plan_of(bench: Bench, request: Request, names: Sequence[str] = (MAIN_ARM,)) -> Plan:
    """Return the plan that a request describes.

    Args:
        bench: The workbench.
        request: What to run.
        names: What the arms are called when all of them run the request's one task.

    Raises:
        UsageError: something is missing or wrong, or no case is left.
        NotFoundError: a dataset or an experiment does not exist.
    """
    where = str(request.spec) if request.spec else None
    if request.dataset is None:
        raise UsageError("no dataset", where=where, fix="give one with --dataset NAME, or a spec")
    if request.task is None and not request.design.arms:
        raise UsageError("no task", where=where, fix="give one with --task JSON|FILE, or in a spec")
    if not request.graders:
        raise UsageError("no grader", where=where, fix="give one, e.g. --grader exact")
    folder = base_dir(bench, request)
    calls = calls_given(bench, request)
    placed = _arms(bench, request, names, calls)
    check_recordable(bench, [one.arm for one in placed], calls)
    design = design_given(bench, request, len(placed))
    graders_where = f"{where}: graders" if where else "graders"
    graders = settled_graders(
        bench, grader_specs(request.graders, graders_where), folder, graders_where
    )
    gate_rules(request.gate, f"{where}: gate", [grader.name for grader in graders])
    dataset = bench.store.datasets.version(request.dataset)
    cases = _selected(bench, dataset, request)
    for arm, start, place in placed:
        if design.get("kind") == SEQ:
            check_shows_attempts(arm.task, place)
        rehearse_task(arm.task, lambda: _whole(bench, dataset, cases[0]), start, place)
    plan = Plan(
        dataset=dataset,
        cases=cases,
        arms=tuple(one.arm for one in placed),
        graders=graders,
        trials=most_trials(design, request.trials),
        seed=seed_or_drawn(request.seed),
        policy=policy_of(request, Policy()),
        design=design,
        calls=calls,
    )
    check_design(bench, plan, folder)
    return plan


class _Placed(NamedTuple):
    """An arm, where the relative paths of its task start, and what it comes from."""

    arm: Arm
    folder: Path
    where: str


def _arms(
    bench: Bench, request: Request, names: Sequence[str], calls: dict[str, Json]
) -> list[_Placed]:
    folder = base_dir(bench, request)
    given = _cells(request, folder) or given_arms(bench, request, folder)
    if given:
        refuse_no_control(request)
        settled = settled_arms(bench, given)
        return [
            _Placed(arm, one.folder, one.where) for arm, one in zip(settled, given, strict=True)
        ]
    where = f"{request.spec}: task" if request.spec else "--task"
    task = settled_task(bench, task_spec(request.task, where), folder, where)
    arms = [_Placed(Arm(name, task), folder, where) for name in names]
    control = control_of(bench, request, calls, arms[0].arm) if len(arms) == 1 else None
    if control is None:
        return arms
    recorded = _Placed(Arm(CONTROL, control.task), control.folder, "the recorded task")
    return [recorded, _Placed(Arm(CANDIDATE, task), folder, where)]


def _cells(request: Request, folder: Path) -> tuple[GivenArm, ...]:
    found = cells_given(request)
    return () if found is None else cell_arms(found, folder, f"{request.spec or 'matrix'}")


def policy_of(request: Request, otherwise: Policy) -> Policy:
    """Return how the trials of a request are run; what it leaves open is as in `otherwise`."""
    limits = request.limits
    return Policy(
        _first(limits.concurrency, otherwise.concurrency),
        _first(limits.retries, otherwise.retries),
        _first(limits.stop_after_infra, otherwise.stop_after_infra),
        _first(limits.trial_timeout, otherwise.trial_timeout_s),
        _first(request.max_cost, otherwise.max_cost_usd),
        request.caching.no_cache or otherwise.no_cache,
    )


def _first(given: T | None, otherwise: T) -> T:
    return otherwise if given is None else given


def plan_of_stored(bench: Bench, experiment: Experiment, request: Request) -> Plan:
    """Return the plan of a stored experiment: the same cases, whatever was added since."""
    dataset = bench.store.datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    outlines = tuple(bench.store.datasets.outline(dataset))
    positions = bench.store.experiments.positions(experiment.id)
    spec = experiment.spec
    return Plan(
        dataset=dataset,
        cases=tuple(outlines[position] for position in positions),
        arms=tuple(Arm(name, task_spec(spec["arms"][name], name)) for name in experiment.arms),
        graders=grader_specs(spec["graders"], "graders"),
        trials=experiment.trials,
        seed=experiment.seed,
        policy=policy_of(request, stored_policy(experiment.policy)),
        design=spec.get("design", {}),
        calls=spec.get("calls", {}),
    )


def base_dir(bench: Bench, request: Request) -> Path:
    """Return where relative paths of a request start: its spec's folder, else the current one."""
    return bench.cwd if request.spec is None else request.spec.parent


def selected_by(bench: Bench, request: Request) -> str | None:
    """Return the id of the experiment whose failed cases a request runs.

    Raises:
        NotFoundError: there is no such experiment.
    """
    ref = request.selection.failing
    return None if ref is None else bench.store.experiments.find(ref).experiment.id


def spec_to_store(plan: Plan, folder: Path, failing: str | None = None) -> Mapping[str, Json]:
    """Return what is run as JSON, with its folder and the digests of its graders' and tasks' files.

    Args:
        plan: The plan.
        folder: The folder that its relative paths start at.
        failing: The experiment whose failed cases were selected, so that nobody compares the two
            without a warning.
    """
    origin = {} if failing is None else {"failing": failing}
    critic = critic_of(plan)
    graders = plan.graders if critic is None else (critic, *plan.graders)
    scripts = script_digests((grader, folder) for grader in graders)
    task_scripts = task_script_digests(plan.arms, folder)
    return {
        **plan.spec(),
        "base_dir": str(folder),
        **({"grader_scripts": scripts} if scripts else {}),
        **({"task_scripts": task_scripts} if task_scripts else {}),
        **origin,
    }


def _selected(bench: Bench, dataset: DatasetVersion, request: Request) -> tuple[CaseOutline, ...]:
    outlines = tuple(bench.store.datasets.outline(dataset))
    selection = request.selection
    criteria = Criteria(
        split=selection.split,
        among=_among(bench, selection),
        patterns=selection.cases,
        sample=_sample(selection.sample),
        sample_seed=request.seed or 0,
        first_n=selection.first_n,
    )
    cases = select(outlines, criteria)
    most = request.design.max_cases
    if most is not None and most < len(cases):
        cases = select(cases, Criteria(sample=most, sample_seed=request.seed or 0))
    if not cases:
        splits = ", ".join(split_names(outlines)) or "none"
        counted = f"{dataset.n_cases:,} case{'' if dataset.n_cases == 1 else 's'}"
        raise UsageError(
            f"the selection leaves no case of {dataset.ref}",
            why=f"it has {counted}, the first is {outlines[0].id!r}; its splits: {splits}",
            fix="widen --split, --case, --sample, --failing or --errors-from",
        )
    return cases


def _among(bench: Bench, selection: Selection) -> frozenset[CaseKey] | None:
    chosen: list[frozenset[CaseKey]] = []
    if selection.failing:
        chosen.append(_failed(bench, selection.failing))
    if selection.errors_from:
        chosen.append(_errored(bench, selection.errors_from))
    return frozenset.intersection(*chosen) if chosen else None


def _failed(bench: Bench, ref: str) -> frozenset[CaseKey]:
    """Return the rows that did not pass in most of their decided trials."""
    experiment = bench.store.experiments.find(ref).experiment
    rows = bench.store.experiments.rows(experiment.id, RowQuery(only="failed", limit=EVERY_ROW))
    return frozenset(row.key for row in rows if 2 * row.passed <= row.decided)


def _errored(bench: Bench, ref: str) -> frozenset[CaseKey]:
    experiment = bench.store.experiments.find(ref).experiment
    causes = frozenset({Cause.TASK, Cause.INFRA})
    keys = bench.store.experiments.recorded_keys(experiment.id, causes)
    return frozenset(key.case_key for key in keys)


def _whole(bench: Bench, dataset: DatasetVersion, case: CaseOutline) -> Case:
    return next(iter(bench.store.datasets.cases(dataset, [case.position])))


def _sample(given: str | float | None) -> int | float | None:
    """Return a count as int, or a share as float."""
    if given is None:
        return None
    try:
        number: Any = float(given)
        number = int(given) if isinstance(given, int) or str(given).isdigit() else number
    except ValueError:
        number = -1.0
    if isinstance(number, int) and number >= 1:
        return number
    if isinstance(number, float) and 0 < number < 1:
        return number
    raise UsageError(
        f"--sample takes a count from 1 or a share between 0 and 1, got {given}",
        fix="e.g. --sample 10 or --sample 0.2",
    )
