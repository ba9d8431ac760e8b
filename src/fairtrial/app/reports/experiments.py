"""What `exp list` says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairtrial.app.reports.facts import against_json, grader_json, state_json
from fairtrial.app.reports.gate import GateChip
from fairtrial.app.reports.informing import Informing
from fairtrial.model.baseline import AgainstBaseline
from fairtrial.model.experiment import ExperimentState, GraderTotals
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class ExperimentsReport(Informing):
    """A page of experiments.

    Attributes:
        states: In the order that was asked for.
        against: What each fixed and broke against its baseline.
        more: Whether there are older ones.
        where: The filter that chose them, if one did.
        graders: Each one's totals of its graders, in the order of its spec.
        gates: Where each stands at the release gate.
        sort: In which order they are; `newest` first when nobody said.
    """

    schema: ClassVar[str] = "fairtrial.experiments/1"

    states: Sequence[ExperimentState]
    against: Sequence[AgainstBaseline]
    more: bool
    where: str | None = None
    graders: Sequence[Sequence[GraderTotals]] = ()
    gates: Sequence[GateChip] = ()
    sort: str = "newest"

    def json(self) -> dict[str, Json]:
        """Return the page; `next` is what `--before` takes for the one after it."""
        return {
            "schema": self.schema,
            "experiments": [
                {
                    **state_json(state),
                    "alive": state.alive,
                    "vs_baseline": against_json(against),
                    "graders": [grader_json(totals) for totals in graders],
                    "release_gate": {"standing": gate.standing, "reason": gate.reason},
                }
                for state, against, graders, gate in zip(
                    self.states, self.against, self.graders, self.gates, strict=True
                )
            ],
            "next": self.states[-1].experiment.id if self.more else None,
        }
