"""What `exp run --dry-run` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.cost import CostEstimate
from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class SmallestEffect:
    """The smallest difference that a comparison of two runs of one size shows.

    Attributes:
        effect: Difference of the pass rates, as a share; None when nothing can be counted on.
        power: How often it is seen.
        alpha: How often, at most, one is seen although there is none.
        flip_rate: What is assumed: how often a verdict flips without any change.
        assumption: Where that comes from, in words.
    """

    effect: float | None
    power: float
    alpha: float
    flip_rate: float
    assumption: str


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell of a matrix that would run.

    Attributes:
        cell: Its name; the first is the baseline.
        changes: What it sets, by the path of the field in the task.
        due: Trials that are not on record.
        copied: How many of them would be copied from earlier experiments.
    """

    cell: str
    changes: Mapping[str, Json]
    due: int
    copied: int


@dataclass(frozen=True, slots=True)
class PlanReport(Informing):
    """What would run; nothing did.

    Attributes:
        name: The experiment's name.
        dataset: The pinned dataset version.
        spec: Arms with their tasks, graders and trials.
        policy: Retries, concurrency and limits.
        n_cases: Selected cases.
        n_dataset: Cases of the dataset version.
        n_planned: Trials of the whole plan.
        n_kept: Trials that are on record and would not run again.
        seed: Seed of the order.
        identity: What makes two runs the same experiment.
        first: The first trials in order: case id, condition, arm, trial.
        smallest_effect: What a comparison with another run of this size would show.
        cost: What the trials that would run are expected to cost.
        resumes: The experiment that would be continued.
        cells: The cells of a matrix, the baseline first; empty without one.
    """

    schema: ClassVar[str] = "fairtrial.plan/1"

    name: str
    dataset: str
    spec: Mapping[str, Json]
    policy: Mapping[str, Json]
    n_cases: int
    n_dataset: int
    n_planned: int
    n_kept: int
    seed: int
    identity: str
    first: Sequence[tuple[str, str, str, int]]
    smallest_effect: SmallestEffect
    cost: CostEstimate
    resumes: str | None = None
    cells: tuple[PlannedCell, ...] = ()

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, **asdict(self)}
