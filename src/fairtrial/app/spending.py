"""The limit of `--max-cost`: whether a run may start, and what it may spend."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.app.bench import Bench
from fairtrial.app.estimating import estimate
from fairtrial.app.further_tries import further_tries
from fairtrial.app.model_uses import ModelUse, critic_uses, grader_uses, task_uses
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.settling import tell
from fairtrial.app.step_costs import CONTINUATION, models_of
from fairtrial.engine.plan import Plan
from fairtrial.engine.stop_rules import OVER_BUDGET, Budget
from fairtrial.model.errors import RefusedError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.wording import usd


def budget_of(bench: Bench, plan: Plan, state: ExperimentState | None, n_due: int) -> Budget | None:
    """Return what a run may cost; None without a limit.

    Without one, a model whose cost will be unknown is told.

    Raises:
        RefusedError: a model has no known price, or more is expected than may be spent.
    """
    limit = plan.policy.max_cost_usd
    if limit is None:
        tell(bench, [_unpriced(use, bench) for use in _unpriced_uses(bench, plan)])
        return None
    _refuse_unpriced(bench, plan)
    spent = 0.0 if state is None else spent_usd(bench, state)
    expected = estimate(bench, plan, n_due)
    _refuse_too_much(limit, spent, expected)
    return Budget(limit, spent, expected.trial_least_usd)


def spent_usd(bench: Bench, state: ExperimentState) -> float:
    """Return what the trials on record have cost, as far as it is known."""
    once = (state.totals.cost_usd or 0.0) + (state.totals.grading_cost_usd or 0.0)
    further = further_tries(bench.store.experiments, state)
    return once + (0.0 if further is None else further.cost_usd or 0.0)


def _unpriced_uses(bench: Bench, plan: Plan) -> Sequence[ModelUse]:
    uses = [*(use for uses in task_uses(plan).values() for use in uses), *grader_uses(plan)]
    uses += critic_uses(plan)
    uses += _steps(bench, plan)
    return [use for use in uses if not use.priced(bench.prices)]


def _steps(bench: Bench, plan: Plan) -> list[ModelUse]:
    """Return the models that continuation tasks ask: they stand in the cases."""
    arms = [arm for arm in plan.arms if arm.task.kind == CONTINUATION]
    if not arms:
        return []
    positions = [case.position for case in plan.cases]
    cases = list(bench.store.datasets.cases(plan.dataset, positions))
    return [
        ModelUse(f"task of arm {arm.name}", {"kind": CONTINUATION}, model, 0, 0)
        for arm in arms
        for model in models_of(arm, cases)
    ]


def _unpriced(use: ModelUse, bench: Bench) -> str:
    named = use.model or f"the model that {use.provider['kind']} chooses"
    prices = bench.home / "prices.json"
    return f"no price is known for {named}: what it costs will be unknown; give one in {prices}"


def _refuse_unpriced(bench: Bench, plan: Plan) -> None:
    for use in _unpriced_uses(bench, plan):
        named = use.model or f"the model that {use.provider['kind']} chooses"
        example = f'{{"{use.model or "MODEL"}": {{"input": USD, "output": USD}}}}'
        raise RefusedError(
            f"{OVER_BUDGET} cannot be kept: no price is known for {named}",
            where=use.where,
            fix=f"name a model with a known price, or give one for a million tokens in "
            f"{bench.home / 'prices.json'}: {example}",
        )


def _refuse_too_much(limit: float, spent: float, expected: CostEstimate) -> None:
    least = expected.least_usd
    if least is None or spent + least <= limit:
        return
    before = f"{usd(spent)} is spent, and " if spent else ""
    raise RefusedError(
        f"the run is expected to cost more than {OVER_BUDGET} {usd(limit)}",
        why=f"{before}what is left costs {expected.text()}",
        fix="allow more" if spent else "allow more, or run less: fewer cases or --trials",
    )
