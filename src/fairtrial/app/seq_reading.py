"""What the sequential attempts of a finished run came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fairtrial.analysis.seq import seq_rate, solved_counts
from fairtrial.app.attempting import CRITIC
from fairtrial.app.bench import Bench
from fairtrial.app.reports.facts import rate_json
from fairtrial.engine.feedback import BIT
from fairtrial.engine.plan import Plan
from fairtrial.engine.stop_rules import further_cost
from fairtrial.model.design import DesignReading
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict
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
        arms[arm.name] = _of_arm(trials, design)
    before = "those before it" if design["history"] == "full" else "the one before it"
    how = (
        f"Up to {design['attempts']} attempts a trial; each is told "
        f"{_TOLD[design['feedback']].format(before=before)}. The pass rate is the first attempt's."
    )
    lines = [how]
    for name, arm in arms.items():
        named = f"{name}: " if len(arms) > 1 else ""
        lines += [f"{named}{said}" for said in (_further(arm), *_critic(arm))]
    told = {key: design[key] for key in ("attempts", "feedback", "history")}
    return DesignReading("seq", tuple(lines), {**told, "arms": arms})


def _of_arm(trials: Sequence[Trial], design: Mapping[str, Json]) -> dict[str, Json]:
    further = [trial for trial in trials if len(trial.attempts) > 1]
    costs = [further_cost(trial) for trial in trials]
    known = [cost for cost in costs if cost is not None]
    most = design["attempts"]
    told = {} if design["feedback"] != CRITIC else _of_critic(trials, most)
    return {
        "seq": [
            {"k": k, **rate_json(seq_rate(solved_counts(trials, k)))} for k in range(1, most + 1)
        ],
        "further_attempts": sum(len(trial.attempts) - 1 for trial in further),
        "further_cost_usd": sum(known) if known or not costs else None,
        "further_cost_unknown": len(costs) - len(known),
        **told,
    }


def _of_critic(trials: Sequence[Trial], most: int) -> dict[str, Json]:
    """Return how often the critic had nothing to say, and how many trials went on without it."""
    asked = [attempt for trial in trials for attempt in trial.attempts[:-1]]
    given_up = [
        trial
        for trial in trials
        if len(trial.attempts) < most
        and trial.attempts[-1:]
        and trial.attempts[-1].verdict is Verdict.FAILED
    ]
    return {
        "critic_silent": sum(attempt.feedback == BIT for attempt in asked),
        "critic_unavailable": len(given_up),
    }


def _further(found: dict[str, Json]) -> str:
    count, cost = found["further_attempts"], found["further_cost_usd"]
    said = f"{count:,} further attempts" if count != 1 else "1 further attempt"
    if not cost:
        return f"{said}."
    unknown = found["further_cost_unknown"]
    known = f" (unknown for {unknown:,} trials)" if unknown else ""
    return f"{said} cost {usd(cost)}{known}, which is in no other number."


def _critic(found: dict[str, Json]) -> Iterator[str]:
    silent, unavailable = found.get("critic_silent"), found.get("critic_unavailable")
    if silent:
        yield (
            f"The critic gave no reason, or one that was kept back, before {silent:,} of them: "
            "those were told only that the one before had failed."
        )
    if unavailable:
        trials = "1 trial" if unavailable == 1 else f"{unavailable:,} trials"
        yield f"The critic could not be asked in {trials}, which got no further attempt."
