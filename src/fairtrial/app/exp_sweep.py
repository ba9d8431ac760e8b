"""`exp sweep`: race configurations, then hold the winner against the start."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.analysis.comparing.guarding import guard
from fairtrial.analysis.gate.ship import ShipRules
from fairtrial.analysis.paired import paired
from fairtrial.analysis.sweep import adoption, no_race, start_won
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm
from fairtrial.app.design_readings import kept_reading
from fairtrial.app.exp_compare import compared
from fairtrial.app.ledger import tried_by
from fairtrial.app.platform_faults import caused_by_platform
from fairtrial.app.reports.experiment import judged
from fairtrial.app.reports.sweep import Guarded, SweepReport
from fairtrial.app.requests.exp_compare import Gate
from fairtrial.app.requests.exp_compare import Request as CompareRequest
from fairtrial.app.requests.exp_run import NEWEST
from fairtrial.app.requests.exp_sweep import Request
from fairtrial.app.resuming import refuse_ignored
from fairtrial.app.sweep_phases import Phases
from fairtrial.app.sweep_plan import (
    Phase,
    SweepPlan,
    identity_of,
    stored_plan,
    sweep_plan,
    with_limits,
)
from fairtrial.model.decision import Outcome
from fairtrial.model.design import DesignReading
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.sweep import Sweep
from fairtrial.schema.fields import options_of


def exp_sweep(bench: Bench, request: Request) -> SweepReport:
    """Race configurations, compare the winner with the start on held-out cases and guards.

    Raises:
        UsageError: something is missing or wrong, or there are too few cases.
        NotFoundError: a dataset, a file or a sweep does not exist.
        RefusedError: another process is at it, or it would cost more than it may.
        StoreError: the store cannot be read or written.
    """
    sweep = _to_resume(bench, request) if request.resume is not None else _new(bench, request)
    plan = stored_plan(sweep)
    plan = replace(plan, policy=with_limits(plan.policy, request))
    phases = Phases(bench, plan, request, lambda: _begin(bench, sweep))
    race = phases.run(plan.race, plan.arms)
    report = SweepReport(sweep, plan, (race,))
    if race.status is not Status.FINISHED:
        return report
    reading = kept_reading(bench, race)
    if reading is None:
        raise NotFoundError(f"what the race {race.experiment.id} came to is not on record")
    report = replace(report, race=reading)
    winner, start = str(reading.facts["winner"]), plan.arms[0].name
    unmeasured = _unmeasured(race, reading)
    if winner == start and len(unmeasured) >= len(plan.arms) - 1:
        return _over(bench, replace(report, decision=no_race(unmeasured)))
    if winner == start:
        return _over(bench, replace(report, decision=start_won(start)))
    return _after_the_race(phases, report, winner)


def _unmeasured(race: ExperimentState, reading: DesignReading) -> tuple[str, ...]:
    """Return the configurations of which the race says nothing."""
    if not judged(race):
        return race.experiment.arms
    last = {name: rate for one in reading.facts["rounds"] for name, rate in one["rates"].items()}
    return tuple(name for name in race.experiment.arms if last[name] is None)


def _after_the_race(phases: Phases, report: SweepReport, winner: str) -> SweepReport:
    bench, plan = phases.bench, phases.plan
    arms = (plan.arms[0], next(arm for arm in plan.arms if arm.name == winner))
    state = phases.run(plan.held_out, arms)
    report = replace(report, states=(*report.states, state))
    if state.status is not Status.FINISHED:
        return report
    found, held_out = compared(bench, _comparison(state, Gate(gate=True)))
    if held_out.decision is None:
        raise TypeError(held_out)
    difference = paired(found.cases)
    decision = adoption(difference, held_out.decision, {})
    report = replace(report, held_out=held_out)
    # What does not ship anyway has nothing to guard, and running guards costs.
    for phase in plan.guards if decision.outcome is Outcome.SHIP else ():
        state = phases.run(phase, arms)
        report = replace(report, states=(*report.states, state))
        if state.status is not Status.FINISHED:
            return report
        report = replace(report, guards=(*report.guards, _guarded(bench, plan, phase, state)))
    guards = {one.dataset: one.decision for one in report.guards}
    decision = adoption(difference, held_out.decision, guards)
    return _over(bench, replace(report, decision=decision))


def _comparison(state: ExperimentState, gate: Gate) -> CompareRequest:
    first, second = (f"{state.experiment.id}:{arm}" for arm in state.experiment.arms)
    return CompareRequest(a=first, b=second, ship=gate)


def _guarded(bench: Bench, plan: SweepPlan, phase: Phase, state: ExperimentState) -> Guarded:
    found, report = compared(bench, _comparison(state, Gate()))
    rules = ShipRules(harm_weight=plan.weight, break_limit=plan.tau)
    first, second = (ChosenArm(state, arm) for arm in state.experiment.arms)
    faults = caused_by_platform(bench, first), caused_by_platform(bench, second)
    return Guarded(phase.dataset, state.experiment.id, report, guard(found, rules, faults))


def _over(bench: Bench, report: SweepReport) -> SweepReport:
    """Keep what a sweep came to, unless it is kept already."""
    report = replace(report, tried=tried_by(bench, report.states[0], report.held_out))
    if report.sweep.finished_at is None and report.decision is not None:
        result = {"outcome": report.decision.outcome.value, "winner": report.winner}
        now = bench.clock.now()
        bench.store.sweeps.finish(report.sweep.id, result, report.adopted, now)
    return report


def _begin(bench: Bench, sweep: Sweep) -> None:
    if bench.store.sweeps.get(sweep.id) is None:
        bench.store.sweeps.begin(sweep)


def _new(bench: Bench, request: Request) -> Sweep:
    plan = sweep_plan(bench, request)
    return Sweep(
        id=plan.race.id,
        dataset=plan.race.dataset.rpartition("@")[0],
        identity=identity_of(plan, request.guarding.guards),
        plan=plan.content(),
        created_at=bench.clock.now(),
    )


def _to_resume(bench: Bench, request: Request) -> Sweep:
    described = bool(request.configs or request.dataset or request.graders)
    if not described:
        refuse_ignored(request, options_of(Request), "configurations, dataset, graders and budget")
    wanted = _new(bench, request) if described else None
    identity = None if wanted is None else wanted.identity
    if request.resume == NEWEST:
        found = bench.store.sweeps.unfinished(identity)
        if not found:
            what = "of these configurations " if described else ""
            raise NotFoundError(
                f"no unfinished sweep {what}to resume", fix="see: fairtrial exp status"
            )
        return found[0]
    sweep = _named(bench, str(request.resume))
    if identity is not None and identity != sweep.identity:
        raise UsageError(
            f"{sweep.id} is another sweep than these options describe",
            why="its configurations, dataset, graders, splits, budget or guards differ",
            fix=f"resume it as it was: fairtrial exp sweep --resume {sweep.id}",
        )
    return sweep


def _named(bench: Bench, ref: str) -> Sweep:
    """Return the sweep of its id, or of one of its experiments."""
    sweep = bench.store.sweeps.get(ref)
    if sweep is None:
        experiment = bench.store.experiments.find(ref).experiment
        told = experiment.spec.get("sweep")
        sweep = None if told is None else bench.store.sweeps.get(told["race"])
        if sweep is None:
            raise UsageError(
                f"{experiment.id} belongs to no sweep",
                fix=f"resume it with: fairtrial exp run --resume {experiment.id}",
            )
    return sweep
