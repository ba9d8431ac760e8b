"""The phases of a sweep: each is one stored experiment, run once and continued where it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fairtrial.app.bench import Bench
from fairtrial.app.exp_run import Birth, run_intent
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.requests.exp_sweep import Request
from fairtrial.app.resuming import Intent, kept_of
from fairtrial.app.spending import spent_usd
from fairtrial.app.sweep_plan import Phase, SweepPlan, plan_of_phase
from fairtrial.engine.plan import Arm, Plan
from fairtrial.model.errors import NotFoundError, RefusedError
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Phases:
    """What runs the phases of one sweep.

    Attributes:
        bench: The workbench.
        plan: The sweep's plan, with the policy of this run of it.
        request: The options of this run of it.
        before: Called just before the race is opened.
    """

    bench: Bench
    plan: SweepPlan
    request: Request
    before: Callable[[], None]

    def run(self, phase: Phase, arms: Sequence[Arm]) -> ExperimentState:
        """Run what is left of a phase, and return where it then stands.

        Raises:
            RefusedError: another process is at it, or it would cost more than is left.
            StoreError: the store cannot be read or written.
        """
        state = state_of(self.bench, phase)
        if state is not None and state.status is Status.FINISHED:
            return state
        plan = self._affordable(plan_of_phase(self.bench, self.plan, phase, arms), phase)
        kept = frozenset() if state is None else kept_of(self.bench, state)
        facts: Mapping[str, Json] = {"sweep": {"race": self.plan.race.id, "role": phase.role}}
        birth = Birth(phase.id, facts, self.before if phase is self.plan.race else _nothing)
        run = RunRequest(name=phase.name, caching=self.request.caching, session=False)
        try:
            run_intent(self.bench, run, Intent(plan, self.plan.folder, state, kept), birth)
        except RefusedError as error:
            if plan.policy.max_cost_usd is not None and phase is not self.plan.race:
                resume = f"fairtrial exp sweep --resume {self.plan.race.id} --max-cost USD"
                error.fix = f"allow more for the whole sweep: {resume}"
            raise
        return self.bench.store.experiments.find(phase.id)

    def _affordable(self, plan: Plan, phase: Phase) -> Plan:
        """Return a plan that may spend what the other phases left."""
        limit = self.plan.policy.max_cost_usd
        if limit is None:
            return plan
        others = [state_of(self.bench, one) for one in self.plan.phases if one is not phase]
        spent = sum(spent_usd(self.bench, state) for state in others if state is not None)
        left = max(limit - spent, 0.0)
        return replace(plan, policy=replace(plan.policy, max_cost_usd=left))


def state_of(bench: Bench, phase: Phase) -> ExperimentState | None:
    """Return where the experiment of a phase stands; None before it was opened."""
    try:
        state = bench.store.experiments.find(phase.id)
    except NotFoundError:
        return None
    return state if state.experiment.id == phase.id else None


def _nothing() -> None:
    """Do nothing."""
