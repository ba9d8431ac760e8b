"""What `exp list` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.facts import against_json, state_json
from fairtrial.app.reports.informing import Informing
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class ExperimentsReport(Informing):
    """A page of experiments.

    Attributes:
        states: Newest first.
        against: What each fixed and broke against its baseline.
        more: Whether there are older ones.
        where: The filter that chose them, if one did.
    """

    schema: ClassVar[str] = "fairtrial.experiments/1"

    states: Sequence[ExperimentState]
    against: Sequence[AgainstBaseline]
    more: bool
    where: str | None = None

    def json(self) -> dict[str, Json]:
        """Return the page; `next` is what `--before` takes for the one after it."""
        return {
            "schema": self.schema,
            "experiments": [
                {
                    **state_json(state),
                    "alive": state.alive,
                    "vs_baseline": against_json(against),
                }
                for state, against in zip(self.states, self.against, strict=True)
            ],
            "next": self.states[-1].experiment.id if self.more else None,
        }
