"""What eval tasks will cost: from earlier trials of each, else from the session behind it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from fairtrial.app.bench import Bench
from fairtrial.app.eval_agents import COMMAND
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.engine.plan import Plan
from fairtrial.model.case import Case
from fairtrial.model.eval_task import AGENT
from fairtrial.model.json import Json
from fairtrial.model.trial import TrialKey
from fairtrial.ports import EVERY_ROW, RowQuery

_LOOKED_AT: Final = 50
"""Experiments, the newest first, among which earlier trials are looked for."""
_TRIALS: Final = "earlier trials"
_SESSIONS: Final = "the sessions that tasks come from"


class _Asked(NamedTuple):
    """What a trial costs depends on: the task, who works, with which model."""

    case_id: str
    agent: Json
    model: Json


def expected_cost(bench: Bench, plan: Plan, due: Iterable[TrialKey]) -> CostEstimate:
    """Return what the trials that are due are expected to cost, each as its task did before.

    Args:
        bench: The workbench.
        plan: The plan of a run of eval tasks.
        due: The trials that are due.

    Raises:
        StoreError: the store cannot be read.
    """
    arms = {arm.name: arm.task.options for arm in plan.arms}
    earlier = _earlier(bench, plan)
    positions = [case.position for case in plan.cases]
    cases = {case.id: case for case in bench.store.datasets.cases(plan.dataset, positions)}
    sessions: dict[str, float | None] = {}
    total, n, bases, unknown = 0.0, 0, set(), Counter[str]()
    for key in due:
        options = arms[key.arm]
        cost = earlier.get(_Asked(key.case_id, options["agent"], options.get("model")))
        basis = _TRIALS
        if cost is None:
            if key.case_id not in sessions:
                sessions[key.case_id] = _of_session(bench, cases[key.case_id])
            # A session of an agent says nothing about a command of the user's own.
            cost = None if options["agent"] == COMMAND else sessions[key.case_id]
            basis = _SESSIONS
        if cost is None:
            unknown[key.case_id] += 1
        else:
            total, n = total + cost, n + 1
            bases.add(basis)
    if unknown or not n:
        return CostEstimate(reason=_why_unknown(unknown, n, total))
    basis = " and ".join(sorted(bases))
    return CostEstimate(total, total, total / n, total / n, basis)


def may_cost(bench: Bench, plan: Plan, estimate: CostEstimate) -> bool:
    """Return whether a run asks models that cost something, as far as can be known.

    Of a command of the user's own it is known only from its earlier trials.
    """
    if any(arm.task.options.get("agent") != COMMAND for arm in plan.arms):
        return True
    if estimate.least_usd:
        return True
    digests = (
        case.metadata.get("eval_task")
        for case in bench.store.datasets.cases(plan.dataset, [case.position for case in plan.cases])
    )
    return any(
        bench.store.suites.version(str(digest)).verifier.judge is not None for digest in digests
    )


def _why_unknown(unknown: Mapping[str, int], n: int, total: float) -> str:
    if not unknown:
        return "no trial is left to run"
    what = "neither an earlier trial nor a session says what a trial costs"
    if not n:
        return what
    names = ", ".join(sorted(unknown)[:3]) + (" …" if len(unknown) > 3 else "")
    return f"{what} of {names}; the other {n:,} trials cost about ${total:,.2f}"


def _earlier(bench: Bench, plan: Plan) -> dict[_Asked, float]:
    """Return the mean cost of the earlier trials of each task, by who worked."""
    spent: dict[_Asked, float] = defaultdict(float)
    counts: Counter[_Asked] = Counter()
    store = bench.store.experiments
    for state in store.newest(_LOOKED_AT, dataset=plan.dataset.dataset):
        experiment = state.experiment
        # Where the cost of some trials is unknown, a row's sum is less than they cost.
        if experiment.regrade_of is not None or state.totals.costed < state.totals.recorded:
            continue
        arms = experiment.spec.get("arms") or {}
        for row in store.rows(experiment.id, RowQuery(limit=EVERY_ROW)):
            task = arms.get(row.arm) or {}
            if task.get("kind") != AGENT or row.cost_usd is None:
                continue
            asked = _Asked(row.key.case_id, task.get("agent"), task.get("model"))
            spent[asked] += row.cost_usd
            counts[asked] += row.decided + row.undecided
    return {asked: spent[asked] / counts[asked] for asked in spent if counts[asked]}


def _of_session(bench: Bench, case: Case) -> float | None:
    """Return what the session cost that a task was made from; None when that is not known."""
    session = case.metadata.get("session")
    if not isinstance(session, str):
        return None
    found = bench.store.sessions.many([session])
    return found[0].session.cost_usd if found else None
