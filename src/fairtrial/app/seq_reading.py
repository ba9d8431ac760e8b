"""What the sequential attempts of a finished run came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fairtrial.analysis.seq import seq_rate, solved_counts
from fairtrial.app.bench import Bench
from fairtrial.app.reports.facts import rate_json
from fairtrial.engine.plan import Plan
from fairtrial.engine.stop_rules import further_cost
from fairtrial.model.design import DesignReading
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.model.wording import usd
from fairtrial.ports import TrialFilter

_TOLD: Final = {
    "bit": "of {before} only that it failed",
    "reasons": "what the graders said of {before}",
    "critic": "what the critic said of {before}",
}


def seq_reading(bench: Bench, state: ExperimentState, plan: Plan) -> DesignReading:
    """Read Seq@1 to Seq@K of every arm, and what the attempts after the first cost.

    Raises:
        StoreError: the store cannot be read.
    """
    design = plan.design
    arms: dict[str, Json] = {}
    for arm in plan.arms:
        where = TrialFilter(arm=arm.name)
        trials = list(bench.store.experiments.trials(state.experiment.id, where))
        arms[arm.name] = _of_arm(trials, design["attempts"])
    before = "those before it" if design["history"] == "full" else "the one before it"
    how = (
        f"Up to {design['attempts']} attempts a trial; each is told "
        f"{_TOLD[design['feedback']].format(before=before)}. The pass rate is the first attempt's."
    )
    lines = [how]
    lines += [_further(name if len(arms) > 1 else None, arm) for name, arm in arms.items()]
    told = {key: design[key] for key in ("attempts", "feedback", "history")}
    return DesignReading("seq", tuple(lines), {**told, "arms": arms})


def _of_arm(trials: Sequence[Trial], most: int) -> dict[str, Json]:
    further = [trial for trial in trials if len(trial.attempts) > 1]
    costs = [further_cost(trial) for trial in trials]
    known = [cost for cost in costs if cost is not None]
    return {
        "seq": [
            {"k": k, **rate_json(seq_rate(solved_counts(trials, k)))} for k in range(1, most + 1)
        ],
        "further_attempts": sum(len(trial.attempts) - 1 for trial in further),
        "further_cost_usd": sum(known) if known or not costs else None,
        "further_cost_unknown": len(costs) - len(known),
    }


def _further(arm: str | None, found: dict[str, Json]) -> str:
    count, cost = found["further_attempts"], found["further_cost_usd"]
    said = f"{count:,} further attempts" if count != 1 else "1 further attempt"
    named = said if arm is None else f"{arm}: {said}"
    if not cost:
        return f"{named}."
    unknown = found["further_cost_unknown"]
    known = f" (unknown for {unknown:,} trials)" if unknown else ""
    return f"{named} cost {usd(cost)}{known}, which is in no other number."
