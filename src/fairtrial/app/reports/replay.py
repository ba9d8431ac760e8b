"""What `exp replay` says: how often each arm takes the recorded action, and what it costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

from fairtrial.app.reports.calls import call_json
from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.reports.experiment import ExperimentReport
from fairtrial.app.reports.facts import rate_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import RecordedCall
from fairtrial.model.trial import Trial
from fairtrial.stats.proportion import Rate, pass_rate

if TYPE_CHECKING:
    from fairtrial.store.opening import Store

SAME_ACTION = "same_action"


@dataclass(frozen=True, slots=True)
class ArmPlan:
    """An arm that would run.

    Attributes:
        arm: Its name.
        changes: What it sets in each request; empty sends them as recorded.
        cost: What it is expected to cost.
    """

    arm: str
    changes: Mapping[str, Json]
    cost: CostEstimate


@dataclass(frozen=True, slots=True)
class ReplayPlanReport(Informing):
    """What a replay would do; it did nothing.

    Attributes:
        name: The experiment's name.
        calls: The calls.
        arms: The arms.
        graders: The kinds of its graders.
        n: Replies a call and arm.
        cost: What it is expected to cost, judges included.
        notes: What is amiss, one line each.
    """

    schema: ClassVar[str] = "fairtrial.replay-plan/1"

    name: str
    calls: Sequence[RecordedCall]
    arms: Sequence[ArmPlan]
    graders: Sequence[str]
    n: int
    cost: CostEstimate
    notes: Sequence[str]

    @property
    def n_replies(self) -> int:
        """How many requests would be sent."""
        return len(self.calls) * len(self.arms) * self.n

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "name": self.name,
            "calls": [call_json(call) for call in self.calls],
            "arms": [
                {"arm": one.arm, "changes": dict(one.changes), "cost": asdict(one.cost)}
                for one in self.arms
            ],
            "graders": list(self.graders),
            "n": self.n,
            "n_replies": self.n_replies,
            "cost": asdict(self.cost),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class ReplayedWith:
    """What came of one arm.

    Attributes:
        arm: Its name.
        changes: What it set in each request; empty sent them as recorded.
        same_action: How often a reply took the first action of the recorded turn.
        replies: Replies on record.
        cost_usd: What they cost; None when none is known.
        costed: How many have a known cost.
        tokens: What they read and wrote; None when none is known.
    """

    arm: str
    changes: Mapping[str, Json]
    same_action: Rate
    replies: int
    cost_usd: float | None
    costed: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A replay of calls.

    Attributes:
        run: Its experiment.
        arms: What came of each arm.
    """

    schema: ClassVar[str] = "fairtrial.replay/1"

    run: ExperimentReport
    arms: Sequence[ReplayedWith]

    @property
    def exit_code(self) -> ExitCode:
        """That of its experiment."""
        return self.run.exit_code

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "arms": [
                {
                    "arm": one.arm,
                    "changes": dict(one.changes),
                    "same_action": rate_json(one.same_action),
                    "replies": one.replies,
                    "cost_usd": one.cost_usd,
                    "costed": one.costed,
                    "tokens": one.tokens,
                }
                for one in self.arms
            ],
            "experiment": self.run.json(),
            "exit_code": self.exit_code,
        }


def replay_report(store: Store, run: ExperimentReport) -> ReplayReport:
    """Return what came of a replay, from its trials."""
    experiment = run.state.experiment
    trials: dict[str, list[Trial]] = {arm: [] for arm in experiment.arms}
    for trial in store.experiments.trials(experiment.id):
        trials[trial.key.arm].append(trial)
    arms = [
        _replayed(arm, experiment.spec["arms"][arm].get("vary") or {}, found)
        for arm, found in trials.items()
    ]
    return ReplayReport(run, arms)


def shown_changes(vary: Mapping[str, Json]) -> dict[str, Json]:
    """Return the changes of a stored task, as they are made."""
    return {
        name: value[1:] if isinstance(value, str) and value.startswith("@@") else value
        for name, value in vary.items()
    }


def _replayed(arm: str, vary: Mapping[str, Json], trials: Sequence[Trial]) -> ReplayedWith:
    costs = [trial.cost_usd for trial in trials if trial.cost_usd is not None]
    totals = [trial.tokens.total for trial in trials if trial.tokens is not None]
    tokens = [total for total in totals if total is not None]
    return ReplayedWith(
        arm,
        shown_changes(vary),
        pass_rate(_counts(trials)),
        len(trials),
        sum(costs) if costs else None,
        len(costs),
        sum(tokens) if tokens else None,
    )


def _counts(trials: Iterable[Trial]) -> Mapping[tuple[int, int], int]:
    """Return how many calls have so many replies with the same action among so many compared."""
    of_call: dict[str, list[bool]] = {}
    for trial in trials:
        values = [score.value for score in trial.scores if score.grader == SAME_ACTION]
        compared = [value >= 1 for value in values if value is not None]
        of_call.setdefault(trial.key.case_id, []).extend(compared)
    return Counter((sum(found), len(found)) for found in of_call.values())
