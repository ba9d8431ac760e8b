"""What a run is expected to cost: from earlier runs, else from the length of its prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.app.bench import Bench
from fairtrial.app.designing import ADAPTIVE
from fairtrial.app.model_uses import ModelUse, grader_uses, task_uses
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.step_costs import BASIS, cost_of_steps, is_continuation
from fairtrial.engine.plan import Plan
from fairtrial.model.experiment import ExperimentState, Totals
from fairtrial.model.json import content_hash

_LOOKED_AT = 100
"""Experiments, the newest first, among which earlier runs are looked for."""
_RUNS = 3
_CASES = 20
"""Cases whose length stands for that of all."""
_OWN_PRICE = "what its provider says a call costs"
_LENGTHS = "the length of the prompts, and answers as short or as long as they may be"


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of a trial costs at least and at most, and where that comes from."""

    least: float
    most: float
    basis: str


def estimate(bench: Bench, plan: Plan, n_due: int) -> CostEstimate:
    """Return what the trials that are due are expected to cost, without kept answers."""
    earlier = _earlier(bench, plan)
    task = _from_runs(earlier) or _from_steps(bench, plan)
    task = task or _from_prompts(bench, plan, _of_all_arms(plan), "task")
    if isinstance(task, str):
        return CostEstimate(reason=task)
    graders = _graders(bench, plan, earlier)
    if isinstance(graders, str):
        return CostEstimate(reason=graders)
    basis = "; ".join(dict.fromkeys(part.basis for part in (task, graders) if part.basis))
    least, most = task.least + graders.least, task.most + graders.most
    attempts = plan.design.get("attempts", 1)
    if attempts > 1:
        most *= attempts
        basis += f"; up to {attempts} attempts a trial, without what feedback costs"
    fewest = n_due
    if plan.design.get("kind") == ADAPTIVE:
        fewest = max(0, n_due - len(plan.cases) * len(plan.arms))
        basis += "; a third trial only where two disagree"
    return CostEstimate(least * fewest, most * n_due, least, most, basis)


def _earlier(bench: Bench, plan: Plan) -> Sequence[ExperimentState]:
    """Return the newest runs of the same task whose cost is known, on this dataset if any is."""
    wanted = {content_hash(arm.task.content()) for arm in plan.arms}
    found = [
        state
        for state in bench.store.experiments.newest(_LOOKED_AT)
        if state.totals.costed
        and state.experiment.regrade_of is None
        and not state.experiment.measured
        and {content_hash(task) for task in state.experiment.spec["arms"].values()} == wanted
    ]
    here = [state for state in found if state.experiment.dataset == plan.dataset.dataset]
    return (here or found)[:_RUNS]


def _from_runs(states: Sequence[ExperimentState]) -> _Part | None:
    """Return the mean cost of a trial's task over earlier runs, as if nothing had been kept."""
    if not states:
        return None
    costed = sum(state.totals.costed for state in states)
    mean = sum(_unkept(state.totals) for state in states) / costed
    runs = "the newest run" if len(states) == 1 else f"the newest {len(states)} runs"
    return _Part(mean, mean, f"the mean of {runs} of this task, {costed:,} trials")


def _from_steps(bench: Bench, plan: Plan) -> _Part | str | None:
    """Return what the trials of continuation tasks cost; None for other tasks."""
    if not is_continuation(plan):
        return None
    positions = [case.position for case in plan.cases]
    cost = cost_of_steps(plan, bench.store.datasets.cases(plan.dataset, positions), bench.prices)
    return cost if isinstance(cost, str) else _Part(cost.least, cost.most, BASIS)


def _unkept(totals: Totals) -> float:
    saved = sum(reused.cost_usd or 0.0 for reused in totals.reused)
    return (totals.cost_usd or 0.0) + saved


def _graders(bench: Bench, plan: Plan, earlier: Sequence[ExperimentState]) -> _Part | str:
    uses = grader_uses(plan)
    if not uses:
        return _Part(0.0, 0.0, "")
    wanted = content_hash([grader.content() for grader in plan.graders])
    same = [
        state.totals
        for state in earlier
        if state.totals.grading_costed and content_hash(state.experiment.spec["graders"]) == wanted
    ]
    if same:
        judged = sum(totals.grading_costed for totals in same)
        mean = sum(totals.grading_cost_usd or 0.0 for totals in same) / judged
        return _Part(mean, mean, "")
    return _from_prompts(bench, plan, uses, "graders")


def _of_all_arms(plan: Plan) -> tuple[ModelUse, ...]:
    return tuple(use for uses in task_uses(plan).values() for use in uses)


def _from_prompts(bench: Bench, plan: Plan, uses: Sequence[ModelUse], what: str) -> _Part | str:
    """Return what the calls of a trial cost by their length, or why that is unknown."""
    if not uses:
        return "no earlier run of this task said what a trial cost"
    more = _length_of_cases(bench, plan)
    arms = len(plan.arms) if what == "task" else 1
    least = most = 0.0
    for use in uses:
        cost = use.cost_usd(bench.prices, more)
        if cost is None:
            return f"{use.where}: {_why(use, bench)}"
        least, most = least + cost[0] / arms, most + cost[1] / arms
    told = all(use.own_price is not None for use in uses)
    return _Part(least, most, _OWN_PRICE if told else _LENGTHS)


def _why(use: ModelUse, bench: Bench) -> str:
    if use.model is None:
        return "its provider chooses the model"
    if not bench.prices.knows(use.model):
        return f"no price is known for {use.model}"
    return f"{use.provider['kind']} adds instructions of its own, and there is no earlier run"


def _length_of_cases(bench: Bench, plan: Plan) -> float:
    positions = [case.position for case in plan.cases[:_CASES]]
    cases = bench.store.datasets.cases(plan.dataset, positions)
    lengths = [len(json.dumps(case.input, default=str)) for case in cases]
    return sum(lengths) / len(lengths)
