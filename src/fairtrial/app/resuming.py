"""What a run request asks for: a new experiment, or the rest of one that was interrupted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.edited_graders import refuse_edited_graders
from fairtrial.app.planning import base_dir, plan_of, plan_of_stored
from fairtrial.app.reports.status import regrade_command
from fairtrial.app.requests.exp_run import NEWEST, Request
from fairtrial.engine.plan import Plan
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import Experiment, ExperimentState, Status
from fairtrial.model.trial import TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.schema.fields import Option, options_of

_OF_A_RESUME = frozenset(
    ("resume", "limits", "max_cost", "caching", "session", "retry_errors", "dry_run", "spec")
)
"""Options that a resume heeds, and what describes it."""
UNDECIDED_CAUSES = frozenset({Cause.INFRA, Cause.UNDECIDABLE, Cause.INTERNAL})
"""What a resume runs again: these trials say nothing about the arm."""


@dataclass(frozen=True, slots=True)
class Intent:
    """A plan, where its relative paths start, and the experiment it continues, if any."""

    plan: Plan
    folder: Path
    state: ExperimentState | None
    kept: frozenset[TrialKey]


def intent_of(bench: Bench, request: Request, arms: Sequence[str]) -> Intent:
    """Return what a request asks for: a new experiment, or the rest of one.

    Raises:
        UsageError: something is missing or wrong, or no case is left.
        NotFoundError: a dataset or an experiment does not exist.
    """
    if request.retry_errors and request.resume in (None, NEWEST):
        raise UsageError(
            "--retry-errors needs to know which experiment",
            fix="name it: --resume EXPERIMENT --retry-errors",
        )
    if request.resume is None:
        return Intent(plan_of(bench, request, arms), base_dir(bench, request), None, frozenset())
    described = any((request.dataset, request.task, request.design.arms))
    if not described:
        refuse_ignored(request, options_of(Request), "cases, task, graders and trials")
    plan = plan_of(bench, request, arms) if described else None
    state = _to_resume(bench, request.resume, plan)
    experiment = state.experiment
    if plan is not None and plan.identity != experiment.identity:
        raise UsageError(
            f"{experiment.id} is another experiment than this spec describes",
            why="its dataset, cases, tasks, graders, trials or design differ",
            fix=f"resume it as it was: fairtrial exp run --resume {experiment.id}",
        )
    if plan is not None:
        _check_order(plan, experiment)
    stored = plan_of_stored(bench, experiment, request)
    if state.status is not Status.FINISHED or request.retry_errors:
        refuse_edited_graders(experiment, stored)
    return Intent(
        stored,
        Path(experiment.spec["base_dir"]),
        state,
        kept_of(bench, state, retry_errors=request.retry_errors),
    )


def _check_order(plan: Plan, experiment: Experiment) -> None:
    """Refuse arms in another order: what is B − A in one is A − B in the other."""
    names = tuple(arm.name for arm in plan.arms)
    if names != experiment.arms:
        raise UsageError(
            f"{experiment.id} has its arms in another order: {', '.join(experiment.arms)}",
            why="the first is the baseline of all others",
            fix=f"resume it as it was: fairtrial exp run --resume {experiment.id}",
        )


def refuse_ignored(request: object, options: Iterable[Option], kept: str) -> None:
    """Refuse what a resume takes from the store: it would look as if it counted.

    Args:
        request: The request.
        options: Its options.
        kept: What a resume runs as before, in words.

    Raises:
        UsageError: there is some.
    """
    ignored = [
        option.flag
        for option in options
        if option.path[0] not in _OF_A_RESUME
        and attrgetter(".".join(option.path))(request) != option.default
    ]
    if ignored:
        raise UsageError(
            f"{', '.join(ignored)} cannot change what is resumed",
            why=f"a resume runs the same {kept} as before",
            fix="leave it out, or start anew without --resume",
        )


def _to_resume(bench: Bench, ref: str, plan: Plan | None) -> ExperimentState:
    if ref != NEWEST:
        return _resumable(bench.store.experiments.find(ref))
    unfinished = [
        state
        for state in bench.store.experiments.unfinished(plan.identity if plan else None)
        if state.experiment.regrade_of is None
        and not state.experiment.measured
        and not state.experiment.is_reported
        and state.experiment.provenance.source != "pytest"
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
    if state.experiment.provenance.source == "pytest":
        raise UsageError(
            f"{state.experiment.id} was run by pytest, with its fixtures",
            fix="run pytest again",
        )
    if state.experiment.is_reported:
        raise UsageError(
            f"{state.experiment.id} was run by another program, which reported it",
            fix="run that program again",
        )
    if state.experiment.measured:
        raise UsageError(
            f"{state.experiment.id} measures commands in pairs, which cannot be resumed",
            fix="run its `fairtrial exp metrics` command again",
        )
    return state


def kept_of(
    bench: Bench, state: ExperimentState, *, retry_errors: bool = False
) -> frozenset[TrialKey]:
    """Return the recorded trials that are not run again."""
    store, experiment_id = bench.store.experiments, state.experiment.id
    kept = store.recorded_keys(experiment_id)
    again: frozenset[Cause] = frozenset()
    if state.status is not Status.FINISHED or retry_errors:
        again |= UNDECIDED_CAUSES
    if retry_errors:
        again |= {Cause.TASK}
    return frozenset(kept - store.recorded_keys(experiment_id, again) if again else kept)
