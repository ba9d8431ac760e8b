"""What the design of a finished run came to, kept with the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from fairtrial.app.attempting import SEQ
from fairtrial.app.bench import Bench
from fairtrial.app.designing import design_of, known_outcomes, played
from fairtrial.app.race_reading import race_reading
from fairtrial.engine.designs.adaptive import Adaptive
from fairtrial.engine.designs.early_stopping import EarlyStopping
from fairtrial.engine.designs.halving import Halving
from fairtrial.engine.designs.regression import StopOnRegression
from fairtrial.engine.plan import Plan
from fairtrial.engine.stages import Outcomes
from fairtrial.model.decision import Outcome
from fairtrial.model.design import DesignReading, design_reading
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json
from fairtrial.model.verdict import Verdict
from fairtrial.model.wording import excerpt

_NAMED: Final = 5
"""Cases that a line names; the facts name all."""


def kept_reading(bench: Bench, state: ExperimentState) -> DesignReading | None:
    """Return what was found when the run ended; None for a run without a design, or not ended.

    A run that was killed between its last trial and its reading is read now.
    """
    if not state.experiment.spec.get("design"):
        return None
    stored = bench.store.settings.get(_key(state))
    if stored is not None:
        return design_reading(stored)
    # Readings are on record: only a run that was killed then needs what makes plans.
    from fairtrial.app.planning import plan_of_stored  # noqa: PLC0415
    from fairtrial.app.requests.exp_run import Request  # noqa: PLC0415

    return read_design(bench, state, plan_of_stored(bench, state.experiment, Request()))


def read_design(bench: Bench, state: ExperimentState, plan: Plan) -> DesignReading | None:
    """Read what the design of a run found, and keep it; None while the run is not finished.

    Raises:
        StoreError: the store cannot be read or written.
    """
    if state.status is not Status.FINISHED or not plan.design:
        return None
    reading = _found(bench, state, plan)
    bench.store.settings.set(_key(state), reading.content(), bench.clock.now())
    return reading


def _found(bench: Bench, state: ExperimentState, plan: Plan) -> DesignReading:
    if plan.design["kind"] == SEQ:
        from fairtrial.app.seq_reading import seq_reading  # noqa: PLC0415  # rarely asked

        return seq_reading(bench, state, plan)
    design = design_of(bench, plan)
    keys = frozenset(bench.store.experiments.recorded_keys(state.experiment.id))
    outcomes = known_outcomes(bench, state, keys)
    if design is not None:
        played(design, outcomes)
    return _READERS[type(design)](design, outcomes)


def _key(state: ExperimentState) -> str:
    return f"design:{state.experiment.id}"


def _of_looks(design: EarlyStopping, _outcomes: Outcomes) -> DesignReading:
    from fairtrial.analysis.stopping.looks import bounds_ahead, reading  # noqa: PLC0415  # numpy

    parts = design.parts()
    last = len(design.taken)
    stopped = bool(design.taken) and design.taken[-1].stops and last < len(parts)
    found = None if design.cases is None else reading(design.taken, design.cases)
    ran = sum(len(part) for part in parts[:last])
    planned = len(design.plan.cases)
    each = len(design.plan.arms) * design.plan.trials
    saved = {"cases": planned - ran, "trials": (planned - ran) * each}
    lines = [
        f"Stopped at look {last} of {len(parts)}, after {ran:,} of {planned:,} cases: "
        f"{saved['trials']:,} trials were saved."
        if stopped
        else f"All {len(parts)} looks were taken; none before the last could stop the run."
    ]
    if found is not None:
        lines.append(found.describe() if stopped else _at_the_end(found))
    looks = [
        {
            "look": number,
            "cases": look.cases,
            "estimate": look.comparison.difference.estimate,
            "z": look.z,
            "p": look.decision.evidence.get("p"),
            "limit": look.decision.evidence.get("limit"),
            "z_bound": look.decision.evidence.get("z_bound"),
            "stops": look.stops,
            "says": look.decision.reasons[0],
        }
        for number, look in enumerate(design.taken, start=1)
    ]
    facts: dict[str, Json] = {
        "looks": looks,
        "looks_left": [
            {"cases": cases, "z_bound": bound}
            for cases, bound in bounds_ahead(
                design.taken, [len(part) for part in parts[last:]], planned, design.alpha
            )
        ],
        "planned_looks": len(parts),
        "alpha": design.alpha,
        "stopped": stopped,
        "saved": saved,
        "estimate": None if found is None else _estimate(found),
        "reason": None if found is not None else "no look counted, or all differences are equal",
    }
    return DesignReading("early-stopping", tuple(lines), facts)


def _at_the_end(found: Any) -> str:
    return (
        f"Adjusted for its looks, the difference is {found.median_unbiased:+.4g}, plausibly "
        f"{found.interval.describe()}. {found.p.describe().capitalize()}."
    )


def _estimate(found: Any) -> dict[str, Json]:
    return {
        "method": found.method,
        "naive": found.naive,
        "median_unbiased": found.median_unbiased,
        "level": found.level,
        "interval": {"lower": found.interval.lower, "upper": found.interval.upper},
        "repeated": {"lower": found.repeated.lower, "upper": found.repeated.upper},
        "p": found.p.value,
    }


def _of_samples(design: Adaptive, outcomes: Outcomes) -> DesignReading:
    from fairtrial.stats.adaptive import adaptive_suite  # noqa: PLC0415  # numpy

    lines, facts = [], {}
    for arm in design.plan.arms:
        cases = list(_decided(outcomes, arm.name))
        suite = adaptive_suite(cases)
        thirds = sum(len(trials) > 2 for trials in cases)
        name = "" if len(design.plan.arms) == 1 else f"{arm.name}: "
        if suite.verdict_rate is None:
            lines.append(f"{name}no case has a verdict.")
        else:
            lines.append(
                f"{name}{round(suite.verdict_rate * suite.n):,} of {suite.n:,} cases passed by most"
                f" of their trials; {thirds:,} needed a third. No interval is reported: a third "
                "trial is run only where the first two disagree."
            )
        facts[arm.name] = {
            "cases": suite.n,
            "verdict_rate": suite.verdict_rate,
            "pass_at_1": suite.pass_at_1.estimate,
            "third_trials": thirds,
            "trials": suite.trials,
        }
    return DesignReading("adaptive", tuple(lines), {"arms": facts})


def _decided(outcomes: Outcomes, arm: str) -> Iterator[list[bool]]:
    """Yield the verdicts of each case's trials in their order; cases without one are left out."""
    cases: dict[tuple[str, str], dict[int, bool]] = {}
    for key, outcome in outcomes.items():
        if key.arm == arm and outcome.verdict is not Verdict.UNDECIDED:
            trials = cases.setdefault((key.case_id, key.condition), {})
            trials[key.trial] = outcome.verdict is Verdict.PASSED
    for trials in cases.values():
        yield [trials[number] for number in sorted(trials)]


def _of_regressions(design: StopOnRegression, outcomes: Outcomes) -> DesignReading:
    names = [str(key) for key in design.regressed]
    held = f"{len(design.solved):,} cases that passed in every trial of the baseline"
    suspected = sum(
        outcome.verdict is Verdict.FAILED and key.case_key in design.solved
        for key, outcome in outcomes.items()
    )
    facts: dict[str, Json] = {
        "baseline": design.plan.design["baseline"],
        "solved": len(design.solved),
        "failed_once": suspected,
        "regressed": names,
    }
    if not names:
        line = f"No regression: none of the {held} failed here three times in a row."
        return DesignReading("stop-on-regression", (line,), facts, Outcome.CONTINUE)
    shown = ", ".join(excerpt(name, 60) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    line = f"Regressed: {shown}{more}, of the {held}, failed here and in two reruns."
    return DesignReading("stop-on-regression", (line,), facts, Outcome.HOLD)


_READERS: Final[Mapping[type, Callable[[Any, Outcomes], DesignReading]]] = {
    EarlyStopping: _of_looks,
    Adaptive: _of_samples,
    StopOnRegression: _of_regressions,
    Halving: race_reading,
}
