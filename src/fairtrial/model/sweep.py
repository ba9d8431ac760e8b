"""A sweep: a race of configurations, and what its winner showed afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep as it is kept.

    Attributes:
        id: The id of the race's experiment.
        dataset: The name of the dataset that was raced on.
        identity: Hash of what makes two sweeps the same.
        plan: What was planned, as JSON: the experiments of each phase, guards and limits.
        created_at: When it began (UTC).
        result: What it came to, as JSON; None while it is not over.
        adopted: The configuration that was adopted; None when none was.
        finished_at: When it was over (UTC); None before.
    """

    id: str
    dataset: str
    identity: str
    plan: Mapping[str, Json]
    created_at: datetime
    result: Mapping[str, Json] | None = field(default=None)
    adopted: str | None = None
    finished_at: datetime | None = None
