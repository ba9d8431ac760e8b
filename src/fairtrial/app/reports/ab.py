"""What `exp ab` says: which wrong decisions an edit mends, and which right ones it breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.facts import rate_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.case import Case
from fairtrial.model.comparison import Change
from fairtrial.model.decision_point import DECISION
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import AB_ARMS, Status
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
from fairtrial.stats.proportion import Rate, pass_rate

if TYPE_CHECKING:
    from fairtrial.app.ab_arms import Edit
    from fairtrial.app.ab_cases import AbCase, PassedOver
    from fairtrial.app.bench import Bench
    from fairtrial.app.requests.exp_compare import Gate

_FLIPS = {Change.FIXED: "fixed", Change.BROKEN: "broken"}


@dataclass(frozen=True, slots=True)
class AbPlanReport(Informing):
    """What would be tried; no model was called.

    Attributes:
        name: The experiment's name.
        edit: The two harnesses and what differs.
        cases: The decision points, the newest first.
        passed_over: Those that are left out, and why.
        trials: Next turns a case and arm.
        cost: What it is expected to cost, the judge included.
        notes: What was chosen and what is amiss, one line each.
        more: Whether there may be further decision points beyond the limit.
    """

    schema: ClassVar[str] = "fairtrial.ab-plan/1"

    name: str
    edit: Edit
    cases: Sequence[AbCase]
    passed_over: Sequence[PassedOver]
    trials: int
    cost: CostEstimate
    notes: Sequence[str]
    more: bool

    @property
    def n_turns(self) -> int:
        """How many next turns would be asked for."""
        return len(self.cases) * len(AB_ARMS) * self.trials

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "name": self.name,
            "edit": self.edit.facts(),
            "cases": [
                {
                    "case": one.case.id,
                    "behavior": one.behavior,
                    "bad": one.line.point.bad,
                    "summary": one.line.point.summary,
                    "session": one.line.session.id,
                    "agent": one.line.session.agent,
                    "model": one.turn.call.body.get("model"),
                    "fidelity": one.fidelity.value,
                    "why": one.turn.why or None,
                    "same": one.line.same,
                }
                for one in self.cases
            ],
            "passed_over": [{"why": one.why, "cases": list(one.cases)} for one in self.passed_over],
            "trials": self.trials,
            "n_turns": self.n_turns,
            "cost": asdict(self.cost),
            "notes": list(self.notes),
            "more": self.more,
        }


@dataclass(frozen=True, slots=True)
class BehaviorResult:
    """What came of the decision points of one behaviour.

    Attributes:
        behavior: Its name.
        bad: How many were decided wrongly when they were recorded.
        good: How many rightly.
        rates: How often each arm decides rightly, by the arm's name.
        fixed: Decided rightly with B alone.
        broken: Decided rightly with A alone.
        undecided: Rows without a verdict in an arm.
    """

    behavior: str
    bad: int
    good: int
    rates: Mapping[str, Rate]
    fixed: int
    broken: int
    undecided: int


@dataclass(frozen=True, slots=True)
class TurnsBeside:
    """A decision that flipped, with a turn of each arm.

    Attributes:
        case: The id of its case.
        change: `fixed` or `broken`.
        behavior: Its behaviour.
        bad: Whether it was decided wrongly when it was recorded.
        summary: What the agent did then.
        fidelity: How near the request was to the recorded one.
        turns: The next turn of each arm: the first with the arm's verdict.
        reasons: Why each was judged so.
    """

    case: str
    change: str
    behavior: str
    bad: bool
    summary: str
    fidelity: str
    turns: Mapping[str, Json]
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AbReport:
    """An edit of a harness, tried.

    Attributes:
        run: Its experiment.
        edit: The two harnesses and what differs, as the experiment keeps them.
        behaviors: What came of each behaviour.
        flips: Decisions that flipped, broken ones first.
        comparison: A and B beside each other; None when the run has not ended.
        fidelity: How many cases there are of each.
        sessions: How many sessions the cases are of.
        cost_usd: What the turns of each arm cost; None when none is known.
        kept: How many turns of each arm were answers kept from before, which cost nothing.
    """

    schema: ClassVar[str] = "fairtrial.ab/1"

    run: ExperimentReport
    edit: Mapping[str, Any]
    behaviors: Sequence[BehaviorResult]
    flips: Sequence[TurnsBeside]
    comparison: ComparisonReport | None
    fidelity: Mapping[str, int]
    sessions: int
    cost_usd: Mapping[str, float | None]
    kept: Mapping[str, int]

    @property
    def exit_code(self) -> ExitCode:
        """That of its run, unless it went well; then that of the gate, if one was asked."""
        if self.run.exit_code or self.comparison is None:
            return self.run.exit_code
        return self.comparison.exit_code

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "edit": dict(self.edit),
            "behaviors": [
                {
                    "behavior": one.behavior,
                    "bad": one.bad,
                    "good": one.good,
                    "arms": [
                        {"arm": arm, "right": rate_json(rate)} for arm, rate in one.rates.items()
                    ],
                    "fixed": one.fixed,
                    "broken": one.broken,
                    "undecided": one.undecided,
                }
                for one in self.behaviors
            ],
            "flips": [asdict(one) for one in self.flips],
            "fidelity": dict(self.fidelity),
            "sessions": self.sessions,
            "cost_usd": dict(self.cost_usd),
            "kept": dict(self.kept),
            "comparison": None if self.comparison is None else self.comparison.json(),
            "experiment": self.run.json(),
            "exit_code": self.exit_code,
        }


def ab_report(bench: Bench, run: ExperimentReport, ship: Gate) -> AbReport:
    """Return what came of an edit, from its trials.

    Raises:
        UsageError: an option of the gate makes no sense.
        StoreError: the store cannot be read.
    """
    from fairtrial.app.exp_compare import compared  # noqa: PLC0415  # numpy, once a run has ended
    from fairtrial.app.requests.exp_compare import Request as CompareRequest  # noqa: PLC0415

    experiment = run.state.experiment
    trials = list(bench.store.experiments.trials(experiment.id))
    version = bench.store.datasets.version(f"{experiment.dataset}@{experiment.dataset_number}")
    cases = {case.id: case for case in bench.store.datasets.cases(version)}
    comparison = None
    if run.state.status is Status.FINISHED:
        arms = [f"{experiment.id}:{arm}" for arm in AB_ARMS]
        _, comparison = compared(bench, CompareRequest(a=arms[0], b=arms[1], ship=ship))
    flips = list(_flips(comparison, trials, cases))
    return AbReport(
        run=run,
        edit=experiment.spec["ab"],
        behaviors=list(_behaviors(cases.values(), trials, comparison)),
        flips=flips,
        comparison=comparison,
        fidelity=Counter(str(case.metadata["fidelity"]) for case in cases.values()),
        sessions=len({str(case.metadata["session"]) for case in cases.values()}),
        cost_usd={arm: _cost(trial for trial in trials if trial.key.arm == arm) for arm in AB_ARMS},
        kept={
            arm: sum(trial.key.arm == arm and trial.reused is not None for trial in trials)
            for arm in AB_ARMS
        },
    )


def _cost(trials: Iterable[Trial]) -> float | None:
    known = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    return sum(known) if known else None


def _decision(case: Case) -> Mapping[str, Any]:
    found: Mapping[str, Any] = case.metadata[DECISION]
    return found


def _behaviors(
    cases: Iterable[Case], trials: Sequence[Trial], comparison: ComparisonReport | None
) -> Iterator[BehaviorResult]:
    by_name: dict[str, list[Case]] = {}
    for case in cases:
        by_name.setdefault(_decision(case)["behavior"], []).append(case)
    changes = _changes(comparison)
    for name, own in by_name.items():
        ids = {case.id for case in own}
        bad = sum(_decision(case)["bad"] for case in own)
        found = Counter(changes.get(case.id) for case in own)
        yield BehaviorResult(
            behavior=name,
            bad=bad,
            good=len(own) - bad,
            rates={arm: pass_rate(_counts(trials, ids, arm)) for arm in AB_ARMS},
            fixed=found[Change.FIXED],
            broken=found[Change.BROKEN],
            undecided=found[Change.UNDECIDED],
        )


def _changes(comparison: ComparisonReport | None) -> dict[str, Change]:
    if comparison is None:
        return {}
    rows = comparison.comparison.rows
    return {row.key.case_id: change for change, found in rows.items() for row in found}


def _counts(trials: Sequence[Trial], cases: set[str], arm: str) -> Mapping[tuple[int, int], int]:
    """Return how many cases have so many right turns among so many decided ones."""
    of_case: dict[str, list[bool]] = {}
    for trial in trials:
        if trial.key.arm == arm and trial.key.case_id in cases:
            of_case.setdefault(trial.key.case_id, [])
            if trial.verdict is not Verdict.UNDECIDED:
                of_case[trial.key.case_id].append(trial.verdict is Verdict.PASSED)
    return Counter((sum(found), len(found)) for found in of_case.values())


def _flips(
    comparison: ComparisonReport | None, trials: Sequence[Trial], cases: Mapping[str, Case]
) -> Iterator[TurnsBeside]:
    if comparison is None:
        return
    for change in (Change.BROKEN, Change.FIXED):
        right = {"A": change is Change.BROKEN, "B": change is Change.FIXED}
        for row in comparison.comparison.rows.get(change, ()):
            case = cases[row.key.case_id]
            shown = {arm: _shown(trials, case.id, arm, passed=right[arm]) for arm in AB_ARMS}
            decision = _decision(case)
            yield TurnsBeside(
                case=case.id,
                change=_FLIPS[change],
                behavior=decision["behavior"],
                bad=decision["bad"],
                summary=decision["summary"],
                fidelity=str(case.metadata["fidelity"]),
                turns={arm: None if one is None else one.output for arm, one in shown.items()},
                reasons={arm: _reason(one) for arm, one in shown.items()},
            )


def _shown(trials: Sequence[Trial], case_id: str, arm: str, *, passed: bool) -> Trial | None:
    wanted = Verdict.PASSED if passed else Verdict.FAILED
    own = [t for t in trials if (t.key.case_id, t.key.arm, t.verdict) == (case_id, arm, wanted)]
    return min(own, key=lambda trial: trial.key.trial, default=None)


def _reason(trial: Trial | None) -> str:
    if trial is None:
        return ""
    return next((score.reason for score in trial.scores if score.reason), "")
