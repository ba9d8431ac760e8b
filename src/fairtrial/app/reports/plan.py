"""What `exp run --dry-run` says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


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
        resumes: The experiment that would be continued.
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
    resumes: str | None = None

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {"schema": self.schema, **asdict(self)}
