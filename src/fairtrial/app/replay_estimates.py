"""What putting recorded steps to a model is expected to cost, before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.model_uses import uses_of
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.settling import settled_graders
from fairtrial.app.step_costs import BASIS, StepCost, cost_of_arm
from fairtrial.engine.plan import Arm
from fairtrial.graders.registry import grader_specs
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError


def expected_cost(
    bench: Bench,
    cases: Sequence[Case],
    times: int,
    arms: Sequence[Arm],
    graders: Sequence[Mapping[str, Any] | str],
) -> tuple[CostEstimate, Mapping[str, CostEstimate]]:
    """Return what is expected to be spent, judges included, and what on each arm alone.

    Args:
        bench: The workbench.
        cases: Recorded steps.
        times: How often each is put to the model in an arm.
        arms: The arms.
        graders: What judges the replies.
    """
    n = len(cases) * times
    of_arm = {arm.name: _total(cost_of_arm(arm, cases, bench.prices), n, arm.name) for arm in arms}
    unknown = next((one for one in of_arm.values() if one.least_usd is None), None)
    if unknown is not None:
        return unknown, of_arm
    judged = _judges(bench, cases, graders)
    if isinstance(judged, str):
        return CostEstimate(reason=judged), of_arm
    n_all = n * len(arms)
    least = sum(one.least_usd or 0.0 for one in of_arm.values()) + judged[0] * n_all
    most = sum(one.most_usd or 0.0 for one in of_arm.values()) + judged[1] * n_all
    return CostEstimate(least, most, least / n_all, most / n_all, BASIS), of_arm


def _total(cost: StepCost | str, n: int, arm: str) -> CostEstimate:
    if isinstance(cost, str):
        return CostEstimate(reason=f"arm {arm}: {cost}")
    return CostEstimate(cost.least * n, cost.most * n, cost.least, cost.most, BASIS)


def _judges(
    bench: Bench, cases: Sequence[Case], graders: Sequence[Mapping[str, Any] | str]
) -> tuple[float, float] | str:
    """Return what the judges of one reply cost at least and at most, or why that is unknown."""
    try:
        specs = settled_graders(bench, grader_specs(graders, "graders"), bench.cwd, "graders")
    except UsageError as error:
        return f"graders: {error.what}"
    lengths = [len(json.dumps(one.input, default=str)) for one in cases]
    least = most = 0.0
    for spec in specs:
        for use in uses_of(f"grader {spec.name}", spec.options):
            cost = use.cost_usd(bench.prices, sum(lengths) / len(lengths))
            if cost is None:
                return f"{use.where}: no price is known for what it asks"
            least, most = least + cost[0], most + cost[1]
    return least, most
