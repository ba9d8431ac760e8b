"""What `exp show` and `exp run` say of an experiment."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from fairtrial.app.further_tries import further_tries
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.comparison import ComparisonReport
from fairtrial.app.reports.facts import against_json, grader_json, rate_json, row_json, state_json
from fairtrial.app.reports.gate import GateReport
from fairtrial.app.reports.status import expected_cost, verb_of
from fairtrial.engine.stop_rules import OVER_BUDGET
from fairtrial.interchange.experiment_exports.export import trial_json
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.command_line import option
from fairtrial.model.decision import EXIT_CODES
from fairtrial.model.design import DesignReading
from fairtrial.model.errors import ExitCode
from fairtrial.model.experiment import ExperimentState, GraderTotals, Status
from fairtrial.model.json import Json
from fairtrial.model.regrade import RepeatedGrading
from fairtrial.model.replay import ReplayReading
from fairtrial.model.row import Row
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause
from fairtrial.ports import ExperimentStore, RowQuery, TrialFilter
from fairtrial.stats.proportion import Rate

if TYPE_CHECKING:
    from fairtrial.app.reports.logbook import RunInLogbook
    from fairtrial.app.reports.plateau import PlateauReport

SHOWN = 10
"""How many rows or trials of a kind a report lists; `exp export` has them all."""


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    """An experiment, summarized.

    Attributes:
        state: The experiment and where it stands.
        pass_rate: Over the cases of the last arm, with its interval.
        graders: Each grader's totals, in the order of the spec.
        failed_rows: Rows with a failed trial, the first few.
        n_failed_rows: How many there are.
        flaky_rows: Rows of which some trials passed and some failed, the first few.
        slowest_rows: Rows by mean duration, the slowest first.
        problems: Trials with a cause (task, limit, infra, …), the first few of each.
        next_steps: Command lines worth trying now, each with what it does.
        note: What is unusual about this report, if anything.
        gate: What the rules of its spec say; None when it has none.
        vs_baseline: What it fixed and broke against its baseline; None when nobody asked.
        arms: The pass rate of each arm, when there are several.
        design: What its design found, when later trials depended on earlier ones.
        comparison: Its two arms beside each other, when the run has just ended.
        matrix: Its cells beside their baseline, as JSON; None when it has none, or is not finished.
        in_session: Its place in the open session, when it has just joined it.
        loop: How the series that it is a round of stands, when it has just ended.
        grader_noise: How much its graders differ with themselves; None when it was not measured.
        replay: What came of serving recorded model calls again, in a replay.
    """

    schema: ClassVar[str] = "fairtrial.experiment/1"

    state: ExperimentState
    pass_rate: Rate
    graders: Sequence[GraderTotals]
    failed_rows: Sequence[Row]
    n_failed_rows: int
    flaky_rows: Sequence[Row]
    slowest_rows: Sequence[Row]
    problems: Mapping[Cause, Sequence[Trial]]
    next_steps: Sequence[tuple[str, str]]
    note: str | None = None
    gate: GateReport | None = None
    vs_baseline: AgainstBaseline | None = None
    arms: Mapping[str, Rate] = field(default_factory=dict)
    design: DesignReading | None = None
    comparison: ComparisonReport | None = None
    matrix: Mapping[str, Json] | None = None
    loop: PlateauReport | None = None
    in_session: RunInLogbook | None = None
    grader_noise: RepeatedGrading | None = None
    replay: ReplayReading | None = None

    @property
    def exit_code(self) -> ExitCode:
        """0, unless the run was interrupted or says nothing, or its gate or design holds it."""
        code = exit_code(self.state)
        if not code and self.gate is not None:
            code = self.gate.exit_code
        if not code and self.design is not None and self.design.outcome is not None:
            code = EXIT_CODES[self.design.outcome]
        return code

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            **state_json(self.state),
            "pass_rate": rate_json(self.pass_rate),
            "graders": [grader_json(totals) for totals in self.graders],
            "n_failed_rows": self.n_failed_rows,
            "failed_rows": [row_json(row) for row in self.failed_rows],
            "flaky_rows": [row_json(row) for row in self.flaky_rows],
            "slowest_rows": [row_json(row) for row in self.slowest_rows],
            "problems": {
                cause.value: [trial_json(trial) for trial in trials]
                for cause, trials in self.problems.items()
            },
            "next_steps": [{"command": c, "does": does} for c, does in self.next_steps],
            "note": self.note,
            "gate": None if self.gate is None else self.gate.facts(),
            "grader_noise": None if self.grader_noise is None else asdict(self.grader_noise),
            "vs_baseline": None if self.vs_baseline is None else against_json(self.vs_baseline),
            "arm_rates": [
                {"arm": arm, "pass_rate": rate_json(rate)} for arm, rate in self.arms.items()
            ],
            "design": None if self.design is None else self.design.content(),
            "comparison": None if self.comparison is None else self.comparison.json(),
            "loop": None if self.loop is None else self.loop.json(),
            "in_session": None if self.in_session is None else self.in_session.content(),
            "replay": None if self.replay is None else asdict(self.replay),
            "matrix": None if self.matrix is None else dict(self.matrix),
            "exit_code": self.exit_code,
        }


def exit_code(state: ExperimentState) -> ExitCode:
    """Return the exit code of a run that left an experiment in this state."""
    if state.status is Status.INTERRUPTED:
        return ExitCode.INTERRUPTED
    if over_budget(state):
        return ExitCode.REFUSED
    if state.status is Status.STOPPED or judged(state) == 0:
        return ExitCode.NO_VERDICT
    return ExitCode.OK


def over_budget(state: ExperimentState) -> bool:
    """Return whether the limit of `--max-cost` stopped a run."""
    reason = state.status_reason or ""
    return state.status is Status.STOPPED and reason.startswith(OVER_BUDGET)


def judged(state: ExperimentState) -> int:
    """Return how many trials graders judged, or the time limit ended: what quality is read from."""
    return state.totals.decided - state.totals.causes.get(Cause.TASK, 0)


def _why_no_verdict(state: ExperimentState) -> str | None:
    """Return why a finished run says nothing about quality; None when it does."""
    if state.status is not Status.FINISHED or judged(state):
        return None
    return "no quality verdict: no grader judged any output"


def experiment_report(
    store: ExperimentStore, state: ExperimentState, note: str | None = None
) -> ExperimentReport:
    """Return the report of a stored experiment; never reads more than a few of its trials."""
    experiment = state.experiment

    def rows(only: str | None, order: str = "key") -> Sequence[Row]:
        return store.rows(experiment.id, RowQuery(only=only, order=order, limit=SHOWN))

    failed = rows("failed")
    return ExperimentReport(
        state=state,
        pass_rate=pass_rate_of(store, experiment, experiment.arms[-1]),
        graders=store.grader_totals(experiment.id),
        failed_rows=failed,
        n_failed_rows=store.n_rows(experiment.id, RowQuery(only="failed")),
        flaky_rows=rows("flaky"),
        slowest_rows=rows(None, "slowest"),
        problems={cause: _with(store, experiment.id, cause) for cause in state.totals.causes},
        next_steps=_next_steps(store, state, failed),
        note=note or _why_no_verdict(state),
        arms=_rates(store, state),
    )


def _rates(store: ExperimentStore, state: ExperimentState) -> dict[str, Rate]:
    """Return the pass rate of each arm, when there are several."""
    experiment = state.experiment
    if len(experiment.arms) < 2:
        return {}
    return {arm: pass_rate_of(store, experiment, arm) for arm in experiment.arms}


def _with(store: ExperimentStore, experiment_id: str, cause: Cause) -> Sequence[Trial]:
    trials = store.trials(experiment_id, TrialFilter(causes=frozenset({cause})))
    return list(islice(trials, SHOWN))


def _more_money(store: ExperimentStore, state: ExperimentState) -> str:
    """Return the option that lets a resume spend what the rest will cost; else nothing."""
    limit = state.experiment.policy.get("max_cost")
    if not over_budget(state) or limit is None:
        return ""
    whole = expected_cost(state, further_tries(store, state))
    enough = 2 * limit if whole is None or whole <= limit else 1.1 * whole
    return f" --max-cost {float(f'{enough:.2g}'):g}"


def _beside(state: ExperimentState) -> Iterator[tuple[str, str]]:
    """Yield what to hold a finished experiment against."""
    experiment = state.experiment
    name = experiment.id
    if state.status is not Status.FINISHED:
        return
    # The winner of a race is flattered by the choice: comparing it there says nothing.
    # Nor do adaptive samples compare anything.
    apart = experiment.spec.get("design", {}).get("kind") in ("halving", "adaptive")
    if experiment.is_aa:
        yield f"fairtrial exp aa {name}", "see its noise floor, and keep it"
    elif experiment.spec.get("cells") and not apart:
        cell = shlex.quote(f"{name}:{experiment.arms[-1]}")
        yield f"fairtrial exp compare {cell}", "compare one cell with the baseline"
    elif len(experiment.arms) == 2 and not apart:
        yield f"fairtrial exp compare {name}", "compare its arms"
    if experiment.series is not None:
        series = option("--series", experiment.series)
        yield f"fairtrial exp plateau {series}", "see the evidence of its loop"


def _next_steps(
    store: ExperimentStore, state: ExperimentState, failed: Sequence[Row]
) -> Sequence[tuple[str, str]]:
    name = state.experiment.id
    totals = state.totals
    steps = []
    if state.experiment.regrade_of is not None:
        steps.append((f"fairtrial exp show {state.experiment.regrade_of}", "see the original"))
    elif state.experiment.spec.get("sweep"):
        race = state.experiment.spec["sweep"]["race"]
        steps.append((f"fairtrial exp sweep --resume {race}", "go on with its sweep, or read it"))
    elif state.experiment.is_reported:
        pass  # whoever ran it goes on with it
    elif state.status is not Status.FINISHED:
        again = f"fairtrial {verb_of(state.experiment)} --resume {name}"
        steps.append((again + _more_money(store, state), "run what is left"))
    elif totals.causes.get(Cause.TASK) or totals.causes.get(Cause.INFRA):
        command = f"fairtrial exp run --resume {name} --retry-errors"
        steps.append((command, "run the trials that ended in an error again"))
    steps += _beside(state)
    if failed:
        case = option("--case", failed[0].key.case_id)
        steps.append((f"fairtrial exp show {name} {case}", "read one failure in full"))
        steps.append(
            (f"fairtrial exp export {name} --to html -o report.html", "read all of them on a page")
        )
    ran = state.status is Status.FINISHED and state.experiment.regrade_of is None
    plain = not state.experiment.spec.get("design") and not state.experiment.spec.get("cells")
    if state.experiment.trials == 1 and ran and plain and judged(state):
        again = "exp ab" if state.experiment.is_ab else "exp run SPEC"
        steps.append((f"fairtrial {again} --trials 3", "see which cases pass only sometimes"))
    return steps
