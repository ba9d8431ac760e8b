"""`exp replay`: recorded calls put to a model again, varied, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.chosen_calls import ChosenCall, chosen_calls
from fairtrial.app.exp_run import exp_run
from fairtrial.app.replay_upstreams import provider_of
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.replay import (
    ArmPlan,
    ReplayPlanReport,
    ReplayReport,
    replay_report,
    shown_changes,
)
from fairtrial.app.requests.exp_replay import Request
from fairtrial.app.requests.exp_run import NEWEST, Design
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.settling import tell
from fairtrial.app.step_costs import CONTINUATION
from fairtrial.app.varied_arms import Arms, unchanged, varied_arms
from fairtrial.engine.plan import Arm
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import REPLAY_ARMS
from fairtrial.model.json import Json
from fairtrial.model.task import TaskSpec
from fairtrial.schema.text_files import text_given, text_kept

CRITERION = "criterion"
CHOICES = {"met": 1.0, "not met": 0.0}


def exp_replay(bench: Bench, request: Request) -> ReplayReport | ReplayPlanReport:
    """Put recorded calls to a model again in two arms, and compare what it does.

    Raises:
        UsageError: no call is named, one cannot be sent again, or nothing is varied.
        NotFoundError: there is no such call, session or experiment.
        RefusedError: it would cost more than it may.
        StoreError: the store cannot be read or written.
    """
    described = bool(request.calls or request.session or request.vary)
    if request.resume is not None and not described:
        return _run(bench, _resumed(bench, request))
    chosen = chosen_calls(bench, request.calls, request.session, request.limit)
    arms = varied_arms(request.vary, bench.cwd)
    provider, notes = provider_of(bench, chosen, request.upstream)
    tasks = {
        name: _task(changes, provider)
        for name, changes in zip(REPLAY_ARMS, (arms.a, arms.b), strict=True)
    }
    graders = _graders(bench, request, chosen)
    notes = [*notes, *(note for one in chosen for note in one.notes)]
    notes += _idle(chosen, arms)
    name = _name(bench, request, f"replay-{chosen[0].call.id}")
    if request.dry_run:
        return _planned(bench, request, chosen, tasks, graders, (name, notes))
    tell(bench, notes)
    version, _ = bench.store.datasets.add_version(name, (one.case for one in chosen))
    run = RunRequest(
        dataset=version.ref,
        graders=graders,
        name=name,
        trials=request.n,
        limits=request.limits,
        resume=request.resume,
        design=Design(arms=tasks),
        max_cost=request.max_cost,
        caching=request.caching,
    )
    return _run(bench, run)


def _name(bench: Bench, request: Request, otherwise: str) -> str:
    """Return the name of the experiment and its dataset; what is resumed keeps the one it has."""
    if request.name is None and request.resume not in (None, NEWEST):
        return bench.store.experiments.find(str(request.resume)).experiment.name
    return request.name or otherwise


def _run(bench: Bench, run: RunRequest) -> ReplayReport:
    report = exp_run(bench, run)
    if not isinstance(report, ExperimentReport):
        raise TypeError(report)
    return replay_report(bench.store, report)


def _resumed(bench: Bench, request: Request) -> RunRequest:
    """Return what goes on with an interrupted replay; everything else is as it was."""
    ignored = [
        flag
        for flag, given in (
            ("--grader", request.graders),
            ("--criterion", request.criterion),
            ("--judge-model", request.judge_model),
            ("--upstream", request.upstream),
            ("--name", request.name),
            ("--dry-run", request.dry_run),
        )
        if given
    ]
    if ignored:
        raise UsageError(
            f"{', '.join(ignored)} cannot change what is resumed",
            fix="leave it out, or start a new replay without --resume",
        )
    store = bench.store.experiments
    if request.resume != NEWEST:
        experiment = store.find(str(request.resume)).experiment
        if not experiment.is_replay:
            raise UsageError(
                f"{experiment.id} is no replay of calls",
                fix=f"resume it with: fairtrial exp run --resume {experiment.id}",
            )
    else:
        found = [state.experiment for state in store.unfinished() if state.experiment.is_replay]
        if not found:
            raise NotFoundError("no unfinished replay to resume", fix="see: fairtrial exp status")
        experiment = found[0]
    return RunRequest(
        resume=experiment.id,
        limits=request.limits,
        max_cost=request.max_cost,
        caching=request.caching,
    )


def _task(changes: Mapping[str, Json], provider: Json) -> dict[str, Json]:
    vary = {
        name: text_kept(value) if isinstance(value, str) else value
        for name, value in changes.items()
    }
    named = {} if provider is None else {"provider": provider}
    return {"kind": CONTINUATION, "vary": vary, **named}


def _graders(
    bench: Bench, request: Request, chosen: Sequence[ChosenCall]
) -> tuple[Mapping[str, Any] | str, ...]:
    """Return the graders: same_action first, whatever else is given.

    Raises:
        UsageError: a judge's model without a criterion, or nothing to compare with.
    """
    if request.judge_model is not None and request.criterion is None:
        raise UsageError("--judge-model has no effect without --criterion", fix="add --criterion")
    given = [
        grader if isinstance(grader, str) else grader.get("kind") for grader in request.graders
    ]
    own: list[Mapping[str, Any] | str] = [] if "same_action" in given else ["same_action"]
    judges: list[Mapping[str, Any]] = []
    if request.criterion is not None:
        rubric = text_given(request.criterion, bench.cwd, "--criterion")
        model = {} if request.judge_model is None else {"model": request.judge_model}
        judges = [
            {
                "kind": "judge",
                "name": CRITERION,
                "rubric": text_kept(rubric),
                "choices": CHOICES,
                "include": ["input", "output"],
                **model,
            }
        ]
    if not request.graders and not judges and all(one.case.expected is None for one in chosen):
        raise UsageError(
            "none of the calls got an answer that a reply could be compared with",
            fix="name other calls, or grade the replies by themselves: --criterion TEXT",
        )
    return (*own, *request.graders, *judges)


def _idle(chosen: Sequence[ChosenCall], arms: Arms) -> list[str]:
    """Return a line for each arm that sends some calls as they were recorded, though it varies."""
    notes = []
    for name, changes in zip(REPLAY_ARMS, (arms.a, arms.b), strict=True):
        same = unchanged(chosen, changes) if changes else []
        if same:
            some = (
                "every call" if len(same) == len(chosen) else f"{len(same)} of {len(chosen)} calls"
            )
            fields = ", ".join(changes)
            notes.append(f"{name} sends {some} as recorded: {fields} was already so")
    return notes


def _planned(
    bench: Bench,
    request: Request,
    chosen: Sequence[ChosenCall],
    tasks: Mapping[str, Mapping[str, Json]],
    graders: Sequence[Mapping[str, Any] | str],
    named: tuple[str, Sequence[str]],
) -> ReplayPlanReport:
    from fairtrial.app.replay_estimates import expected_cost  # noqa: PLC0415  # only a dry run

    name, notes = named
    arms = tuple(
        Arm(arm, TaskSpec(CONTINUATION, {k: v for k, v in task.items() if k != "kind"}))
        for arm, task in tasks.items()
    )
    cost, per_arm = expected_cost(bench, [one.case for one in chosen], request.n, arms, graders)
    return ReplayPlanReport(
        name=name,
        calls=tuple(one.call for one in chosen),
        arms=tuple(
            ArmPlan(arm.name, shown_changes(arm.task.options["vary"]), per_arm[arm.name])
            for arm in arms
        ),
        graders=tuple(grader if isinstance(grader, str) else grader["kind"] for grader in graders),
        n=request.n,
        cost=cost,
        notes=tuple(notes),
    )
