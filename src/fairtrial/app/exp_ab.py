"""`exp ab`: an edit of a harness, tried on decisions that an agent got wrong, and right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairtrial.app.ab_arms import Edit, edit_of
from fairtrial.app.ab_asking import Answering, answering
from fairtrial.app.ab_cases import AbCase, PassedOver, ab_cases
from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.deciding import EVERY_REPOSITORY, Decisions, Sought, decisions
from fairtrial.app.decision_options import DecisionSelection
from fairtrial.app.exp_run import Birth, carry_out
from fairtrial.app.reports.ab import AbPlanReport, AbReport, ab_report
from fairtrial.app.requests.exp_ab import Request
from fairtrial.app.requests.exp_compare import Gate
from fairtrial.app.requests.exp_run import NEWEST, Design
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.resuming import intent_of
from fairtrial.app.settling import tell
from fairtrial.app.step_costs import CONTINUATION
from fairtrial.engine.plan import Arm
from fairtrial.harness.telling import told
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import AB_ARMS, Experiment
from fairtrial.model.harness import Harness
from fairtrial.model.json import Json
from fairtrial.model.task import TaskSpec
from fairtrial.model.trial import MAIN_ARM
from fairtrial.schema.text_files import text_kept

GRADER = "behavior"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """All that is known before a model is asked.

    Attributes:
        edit: The two harnesses.
        answering: Who is asked.
        cases: What is put to the model.
        passed_over: What is not, and why.
        found: The decision points that were found.
        tasks: The task of each arm.
        grader: What judges the turns.
        name: Of the experiment and its dataset.
    """

    edit: Edit
    answering: Answering
    cases: Sequence[AbCase]
    passed_over: Sequence[PassedOver]
    found: Decisions
    tasks: Mapping[str, dict[str, Json]]
    grader: dict[str, Json]
    name: str

    @property
    def facts(self) -> dict[str, Json]:
        """What the experiment keeps beside its spec."""
        over = [{"why": one.why, "cases": list(one.cases)} for one in self.passed_over]
        return {"ab": {**self.edit.facts(), "passed_over": over}}


def exp_ab(bench: Bench, request: Request) -> AbReport | AbPlanReport:
    """Put decision points to a model with two harnesses, and compare what it does.

    Raises:
        UsageError: there is no edit, an option makes no sense, or nobody can be asked.
        NotFoundError: there is no such file, commit or experiment, or no decision to try it on.
        RefusedError: a protected line is edited, or it would cost more than it may.
        StoreError: the store cannot be read or written.
    """
    if request.ship != Gate():
        from fairtrial.app.exp_compare import ship_rules  # noqa: PLC0415  # numpy

        ship_rules(request.ship)
    if request.resume not in (None, NEWEST):
        return _go_on(bench, request, _named(bench, str(request.resume)))
    edit = edit_of(bench, request)
    if request.resume == NEWEST:
        return _go_on(bench, request, _newest(bench, edit))
    prepared = _prepared(bench, request, edit)
    if request.dry_run:
        return _planned(bench, request, prepared)
    tell(bench, [*prepared.answering.notes, *_notes(prepared)])
    cases = (one.case for one in prepared.cases)
    version, _ = bench.store.datasets.add_version(prepared.name, cases)
    run = RunRequest(
        dataset=version.ref,
        graders=(prepared.grader,),
        name=prepared.name,
        trials=request.trials,
        limits=request.limits,
        design=Design(arms=prepared.tasks),
        max_cost=request.max_cost,
        caching=request.caching,
    )
    intent = intent_of(bench, run, (MAIN_ARM,))
    report = carry_out(bench, run, intent, Birth(facts=prepared.facts, source="ab"))
    return ab_report(bench, report, request.ship)


def _prepared(bench: Bench, request: Request, edit: Edit) -> _Prepared:
    selection = _selection(bench, request.selection)
    found = decisions(bench, selection, Sought.BOTH)
    if found.broken:
        failure = found.failures[0]
        raise UsageError(f"anchor {failure.anchor} failed at every session: {failure.why}")
    _refuse_nothing(found, selection)
    answers = answering(bench, request, found.chosen)
    cases = ab_cases(bench, found.chosen, found.anchors, answers.asked())
    cases, unasked = answers.answered(cases)
    cases, long = answers.fitting(cases)
    passed_over = [*unasked, *long]
    cases, unreached = _reached(cases, edit)
    if not any(case.line.point.bad for case in cases):
        raise NotFoundError(
            "the edit reaches none of the decisions that went wrong"
            if unreached
            else "none of the decisions that went wrong can be put to a model",
            why="; ".join(one.why for one in (*passed_over, *unreached)),
            fix="edit what agents are told as a session starts (see: fairtrial harness show; of a"
            " skill that is its description), or choose other sessions: --since, --repo, --agent",
        )
    vary = {} if request.model is None else {"vary": {"model": request.model}}
    providers = {api.value: dict(spec) for api, spec in answers.providers.items()}
    tasks: dict[str, dict[str, Json]] = {
        name: {
            "kind": CONTINUATION,
            "harness": _kept(harness),
            "providers": providers,
            **vary,
        }
        for name, harness in zip(AB_ARMS, (edit.a, edit.b), strict=True)
    }
    name = request.name or f"ab-{project_of(bench.cwd).name}"
    grader = {"kind": GRADER, **answers.judge_of(cases)}
    over = (*passed_over, *unreached)
    return _Prepared(edit, answers, cases, over, found, tasks, grader, name)


def _kept(harness: Harness) -> dict[str, Json]:
    return {path: text_kept(text) for path, text in harness.files.items()}


def _selection(bench: Bench, given: DecisionSelection) -> DecisionSelection:
    """Return the selection: of the repository around the folder, unless another is named."""
    if given.repo is not None:
        return given
    root = project_of(bench.cwd)
    inside = (root / ".git").exists()
    return replace(given, repo=root if inside else EVERY_REPOSITORY)


def _refuse_nothing(found: Decisions, selection: DecisionSelection) -> None:
    """Refuse where there is no wrong decision, with what to do about it."""
    if any(line.point.bad for line in found.chosen):
        return
    wider = "--since 60d, --repo all"
    where = "" if selection.repo == EVERY_REPOSITORY else f" in {selection.repo}"
    if not found.sessions:
        others = ", ".join(found.other_agents)
        raise NotFoundError(
            f"no session of the last {selection.since} is on record{where}",
            why=f"there are sessions of {others} alone" if others else None,
            fix=f"read those of your agents: fairtrial sessions sync; or look wider: {wider}",
        )
    good = len(found.chosen)
    raise NotFoundError(
        f"no decision went wrong in {found.sessions:,} sessions{where}",
        why=f"{good:,} went right" if good else "no behavior was seen, neither good nor bad",
        fix=f"look wider: {wider}; see them: fairtrial sessions decisions --all; "
        "for a behavior of your own: --anchor FILE",
    )


def _reached(cases: Sequence[AbCase], edit: Edit) -> tuple[list[AbCase], list[PassedOver]]:
    """Return the cases whose requests differ between the arms, and the others."""
    reached: list[AbCase] = []
    same: list[AbCase] = []
    for case in cases:
        calls = [told(case.turn.call, case.turn.place, one) for one in (edit.a, edit.b)]
        (reached if calls[0].body != calls[1].body else same).append(case)
    if not same:
        return reached, []
    why = "what the agent was told is the same in A and B"
    return reached, [PassedOver(why, [case.case.id for case in same])]


def _notes(prepared: _Prepared) -> list[str]:
    over = [
        f"{len(one.cases):,} decision points are left out: {one.why}"
        for one in prepared.passed_over
    ]
    failed = {failure.anchor: failure for failure in prepared.found.failures}
    left_out = dict.fromkeys((*prepared.edit.a.notes, *prepared.edit.b.notes))
    return (
        [*left_out] + over + [f"anchor {one.anchor} failed: {one.why}" for one in failed.values()]
    )


def _planned(bench: Bench, request: Request, prepared: _Prepared) -> AbPlanReport:
    from fairtrial.app.replay_estimates import expected_cost  # noqa: PLC0415  # only a dry run

    arms = tuple(
        Arm(name, TaskSpec(CONTINUATION, {k: v for k, v in task.items() if k != "kind"}))
        for name, task in prepared.tasks.items()
    )
    cases = [one.case for one in prepared.cases]
    cost, _ = expected_cost(bench, cases, request.trials, arms, (prepared.grader,))
    return AbPlanReport(
        name=prepared.name,
        edit=prepared.edit,
        cases=tuple(prepared.cases),
        passed_over=tuple(prepared.passed_over),
        trials=request.trials,
        cost=cost,
        notes=(*prepared.answering.notes, *_notes(prepared)),
        more=prepared.found.more,
    )


def _go_on(bench: Bench, request: Request, experiment: Experiment) -> AbReport:
    """Run what is left of an interrupted one; everything else is as it was."""
    ignored = [
        flag
        for flag, given in (
            ("--dry-run", request.dry_run),
            ("--name", request.name not in (None, experiment.name)),
            ("--trials", request.trials not in (1, experiment.trials)),
            ("--judge-model", request.judge_model),
            ("--base-url", request.base_url),
            ("--model", request.model),
            ("--provider", request.provider),
        )
        if given
    ]
    if ignored:
        raise UsageError(
            f"{', '.join(ignored)} cannot change what is resumed",
            fix="leave it out, or start a new one without --resume",
        )
    run = RunRequest(
        resume=experiment.id,
        limits=request.limits,
        max_cost=request.max_cost,
        caching=request.caching,
    )
    report = carry_out(bench, run, intent_of(bench, run, (MAIN_ARM,)))
    return ab_report(bench, report, request.ship)


def _named(bench: Bench, ref: str) -> Experiment:
    experiment = bench.store.experiments.find(ref).experiment
    if not experiment.is_ab:
        raise UsageError(
            f"{experiment.id} tries no harness",
            fix=f"resume it with: fairtrial exp run --resume {experiment.id}",
        )
    return experiment


def _newest(bench: Bench, edit: Edit) -> Experiment:
    unfinished = [state.experiment for state in bench.store.experiments.unfinished()]
    mine = [experiment for experiment in unfinished if experiment.is_ab]
    wanted = (edit.a.digest, edit.b.digest)
    for experiment in mine:
        facts: Any = experiment.spec["ab"]
        if (facts["a"]["digest"], facts["b"]["digest"]) == wanted:
            return experiment
    if mine:
        raise NotFoundError(
            "no unfinished experiment tries this edit",
            why=f"the newest one, {mine[0].id}, tries another",
            fix=f"go on with it all the same: fairtrial exp ab --resume {mine[0].id}",
        )
    raise NotFoundError("no unfinished experiment to resume", fix="see: fairtrial exp status")
