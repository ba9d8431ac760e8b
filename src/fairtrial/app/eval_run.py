"""`eval run`: agents work on eval tasks, as an experiment on their suite's dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairtrial.app.bench import Bench
from fairtrial.app.eval_agents import Agents, agents_of
from fairtrial.app.eval_costs import expected_cost, may_cost
from fairtrial.app.eval_levels import check_levels
from fairtrial.app.eval_readings import DATASETS, reading_of
from fairtrial.app.eval_suites import ChosenTasks, chosen_tasks, suite_version
from fairtrial.app.exp_run import carry_out
from fairtrial.app.matrix_options import Matrix
from fairtrial.app.reports.eval_run import EvalPlanReport, EvalReport
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.requests.eval_run import Request
from fairtrial.app.requests.exp_run import NEWEST, Design, Selection
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.resuming import Intent, intent_of, refuse_ignored
from fairtrial.app.settling import tell
from fairtrial.engine.stages import slot_key
from fairtrial.model.errors import NotFoundError, RefusedError, UsageError
from fairtrial.model.eval_task import VERIFIER
from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.trial import MAIN_ARM
from fairtrial.model.wording import usd
from fairtrial.schema.fields import options_of

_TWO = 2


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What is about to run.

    Attributes:
        run: As an experiment.
        notes: What was left out or chosen, a line each.
    """

    run: RunRequest
    notes: tuple[str, ...] = ()


def eval_run(bench: Bench, request: Request) -> EvalReport | EvalPlanReport:
    """Run agents on eval tasks, or continue a run; with `dry_run`, only say what would run.

    Raises:
        UsageError: something is missing or wrong, or a task was edited since it was loaded.
        NotFoundError: there is no such task or experiment.
        RefusedError: the user did not consent, or cannot be asked and `yes` is missing; it would
            cost more than it may; or another process is at it.
        StoreError: the store cannot be read or written.
    """
    prepared = _prepared(bench, request)
    tell(bench, prepared.notes)
    intent = intent_of(bench, prepared.run, (MAIN_ARM,))
    plan = _plan_report(bench, intent, prepared)
    if request.dry_run:
        return plan
    if plan.n_due:
        check_levels(bench, intent.plan)
    if plan.n_due and not request.yes and may_cost(bench, intent.plan, plan.cost):
        _ask(bench, plan)
    report = carry_out(bench, prepared.run, intent)
    return eval_report_of(bench, report)


def eval_report_of(bench: Bench, report: ExperimentReport) -> EvalReport:
    """Return the report of a run of eval tasks from that of its experiment."""
    steps = tuple(_steps(report))
    return EvalReport(replace(report, next_steps=steps), reading_of(bench, report.state))


def _steps(report: ExperimentReport) -> Iterator[tuple[str, str]]:
    """Yield the next steps of an experiment, in the words of eval tasks."""
    name = report.state.experiment.id
    for command, does in report.next_steps:
        if command.startswith("fairtrial exp run --resume"):
            yield command.replace("exp run", "eval run", 1), does
        elif command.startswith("fairtrial exp export"):
            yield f"fairtrial eval report {name} --to html -o report.html", does
        elif not command.startswith("fairtrial exp run SPEC"):
            yield command, does


def _prepared(bench: Bench, request: Request) -> _Prepared:
    if not request.tasks:
        if request.resume is None:
            raise UsageError(
                "no suite and no task is named",
                fix="name one: fairtrial eval run SUITE; see them with: fairtrial eval list",
            )
        return _Prepared(_resumed(bench, request))
    chosen = chosen_tasks(bench, request.tasks, request.tags)
    agents = agents_of(bench, request.agent, request.design.arms, chosen.tasks)
    version = suite_version(bench, chosen.suite, chosen.tasks)
    whole = len(chosen.tasks) == version.n_cases
    names = () if whole else tuple(kept.task.name for kept in chosen.tasks)
    arms = agents.arms
    design = request.design
    run = RunRequest(
        dataset=version.ref,
        task=dict(_first(agents)) if len(arms) != _TWO else None,
        graders=(VERIFIER,),
        name=request.name or chosen.suite,
        trials=request.trials,
        seed=request.seed,
        selection=Selection(cases=names),
        limits=request.limits,
        resume=request.resume,
        design=Design(
            arms=arms if len(arms) == _TWO else (),
            stop_early=design.stop_early,
            looks=design.looks,
            stop_on_regression=design.stop_on_regression,
            baseline=design.baseline,
        ),
        matrix=_matrix(agents),
        max_cost=request.max_cost,
        series=request.series,
        session=request.session,
        retry_errors=request.retry_errors,
    )
    return _Prepared(run, _notes(chosen, agents))


def _first(agents: Agents) -> dict[str, object]:
    return dict(agents.common)


def _matrix(agents: Agents) -> Matrix:
    """Return the cells of three or more arms, the baseline first; two are compared as arms."""
    if len(agents.changes) <= _TWO:
        return Matrix()
    variants = tuple({"name": name, **change} for name, change in agents.changes.items())
    first, *others = agents.changes
    return Matrix(variants=variants, baseline_cell=first, cells=tuple(others))


def _notes(chosen: ChosenTasks, agents: Agents) -> tuple[str, ...]:
    return (*chosen.notes, *([agents.note] if agents.note else []))


def _resumed(bench: Bench, request: Request) -> RunRequest:
    """Return what goes on with an interrupted run; everything else is as it was."""
    heeded = ("resume", "limits", "max_cost", "session", "retry_errors", "dry_run", "yes")
    options = [one for one in options_of(Request) if one.path[0] not in heeded]
    refuse_ignored(request, options, "tasks, agents and trials")
    store = bench.store.experiments
    if request.resume != NEWEST:
        experiment = store.find(str(request.resume)).experiment
        if not experiment.is_eval:
            raise UsageError(
                f"{experiment.id} is no run of eval tasks",
                fix=f"resume it with: fairtrial exp run --resume {experiment.id}",
            )
    else:
        experiment = _newest(bench)
    return RunRequest(
        resume=experiment.id,
        limits=request.limits,
        max_cost=request.max_cost,
        session=request.session,
        retry_errors=request.retry_errors,
    )


def _newest(bench: Bench) -> Experiment:
    unfinished = (state.experiment for state in bench.store.experiments.unfinished())
    found = next((one for one in unfinished if one.is_eval and one.regrade_of is None), None)
    if found is None:
        raise NotFoundError(
            "no unfinished run of eval tasks to resume", fix="see: fairtrial exp status"
        )
    return found


def _plan_report(bench: Bench, intent: Intent, prepared: _Prepared) -> EvalPlanReport:
    plan = intent.plan
    due = [key for key in map(slot_key, plan.slots()) if key not in intent.kept]
    state = intent.state
    finished = state is not None and state.status is Status.FINISHED
    if finished and not prepared.run.retry_errors:
        due = []
    return EvalPlanReport(
        suite=plan.dataset.dataset.removeprefix(DATASETS),
        tasks=tuple(case.id for case in plan.cases),
        arms={arm.name: arm.task.options for arm in plan.arms},
        trials=plan.trials,
        n_planned=plan.n_planned,
        n_due=len(due),
        cost=expected_cost(bench, plan, due),
        resumes=None if state is None else state.experiment.id,
        notes=prepared.notes,
    )


def _ask(bench: Bench, plan: EvalPlanReport) -> None:
    what = f"{plan.n_due:,} trial{'' if plan.n_due == 1 else 's'}"
    if bench.ask is None:
        raise RefusedError(
            f"not without your consent: {what} would run, at a cost of {plan.cost.text()}",
            why="there is no terminal to ask on",
            fix="look at the plan with --dry-run, then add --yes; --max-cost USD sets a limit",
        )
    least = plan.cost.least_usd
    cost = "an unknown cost" if least is None else f"about {usd(least)}"
    if not bench.ask(replace(plan, asking=True), f"Run {what} for {cost}?"):
        raise RefusedError("nothing was run")
