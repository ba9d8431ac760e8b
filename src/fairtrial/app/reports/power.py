"""What `exp power` says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.analysis.planned_size import Question
from fairtrial.app.reports.informing import Informing
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Noise:
    """How much an unchanged agent scatters, and how that is known.

    Attributes:
        flip_rate: Chance that two trials of one case differ.
        source: `experiment`, `given` or `guess`.
        text: Where it comes from, in words.
        experiment: The experiment it was read from.
        at_most: No flip was seen: the flip rate is the highest that fits (one-sided, 95 %).
    """

    flip_rate: float
    source: str
    text: str
    experiment: str | None = None
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class PowerReport(Informing):
    """The size of a comparison of two arms over the same cases.

    Attributes:
        noise: What is assumed of the noise.
        asked: What counts as shown.
        trials: Trials a case and arm.
        cases: Cases, when given.
        effect: The difference of the pass rates to be seen, when given.
        cases_needed: Cases that show it, when every case gains a little; None when not asked for,
            or beyond what anyone has.
        cases_needed_if_concentrated: The same when a few cases gain all there is.
        power_reached: Chance to see the effect with the given cases.
        smallest_effect: What the given cases show; None when not asked for, or when it is nothing.
        smallest_effect_if_concentrated: The same when a few cases gain all there is.
        chosen: The row of the table that answers the question.
        table: The smallest effect by (cases, trials).
    """

    schema: ClassVar[str] = "fairtrial.power/1"

    noise: Noise
    asked: Question
    trials: int
    cases: int | None
    effect: float | None
    cases_needed: int | None
    cases_needed_if_concentrated: int | None
    power_reached: float | None
    smallest_effect: float | None
    smallest_effect_if_concentrated: float | None
    chosen: int | None
    table: Mapping[tuple[int, int], float | None]

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "noise": asdict(self.noise),
            "alpha": self.asked.alpha,
            "power": self.asked.power,
            "trials": self.trials,
            "cases": self.cases,
            "effect": self.effect,
            "cases_needed": self.cases_needed,
            "cases_needed_if_concentrated": self.cases_needed_if_concentrated,
            "power_reached": self.power_reached,
            "smallest_effect": self.smallest_effect,
            "smallest_effect_if_concentrated": self.smallest_effect_if_concentrated,
            "table": [
                {
                    "cases": cases,
                    "trials": trials,
                    "smallest_effect": effect,
                    "chosen": (cases, trials) == (self.chosen, self.trials),
                }
                for (cases, trials), effect in self.table.items()
            ],
        }
