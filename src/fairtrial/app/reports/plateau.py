"""What `exp plateau` says, and `exp run --series` at its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple

from fairtrial.analysis.loop_rounds import Loop, PairedRound
from fairtrial.analysis.plateau import PlateauRules
from fairtrial.app.reports.comparison import decision_json
from fairtrial.model.decision import Outcome
from fairtrial.model.errors import ExitCode
from fairtrial.model.json import Json


class ToldRound(NamedTuple):
    """A round as it is told.

    Attributes:
        number: From 0, the baseline; None for one that is left out.
        round: The round.
        e_value: Its e-value; None where it tells nothing.
        evidence: The evidence after it; None like it.
    """

    number: int | None
    round: PairedRound
    e_value: float | None
    evidence: float | None


@dataclass(frozen=True, slots=True)
class PlateauReport:
    """An improvement loop, and whether it should stop.

    Attributes:
        of: What it is: `series NAME`, `dataset NAME`, or the number of experiments.
        loop: Its rounds and the decision.
        rules: When it stops.
    """

    schema: ClassVar[str] = "fairtrial.plateau/1"

    of: str
    loop: Loop
    rules: PlateauRules

    @property
    def exit_code(self) -> ExitCode:
        """0 to go on, 2 with too few rounds, 3 to stop."""
        return self.loop.decision.exit_code

    @property
    def evidence(self) -> tuple[float, ...]:
        """The evidence after each round that tells something."""
        return tuple(self.loop.decision.evidence.get("evidence", ()))

    @property
    def need(self) -> float:
        """The evidence that stops the loop."""
        return 1.0 / self.rules.delta

    @property
    def told(self) -> tuple[ToldRound, ...]:
        """Each round with its number, its e-value and the evidence after it."""
        facts = self.loop.decision.evidence
        values = iter(zip(facts.get("e_values", ()), facts.get("evidence", ()), strict=True))
        telling = iter(facts.get("telling", ()))
        found: list[ToldRound] = []
        number = 0
        for one in self.loop.rounds:
            tells = one.gain is not None and next(telling, False)
            e_value, evidence = next(values) if tells else (None, None)
            found.append(
                ToldRound(None if one.left_out is not None else number, one, e_value, evidence)
            )
            number += one.left_out is None
        return tuple(found)

    def summary(self) -> str:
        """Return the decision in one sentence."""
        decision, ship = self.loop.decision, self.loop.ship
        which = "" if ship is None else f"; ship {ship.name}"
        if decision.outcome is Outcome.TOO_FEW:
            return f"Too few rounds: {decision.reasons[0]}."
        less = f"the evidence that rounds gain less than {100 * self.rules.eps:g} points"
        stopped_in = decision.evidence.get("stop_round")
        if stopped_in is not None:
            return f"Stop: {less} reached {self.need:g} in round {stopped_in}{which}."
        if decision.outcome is Outcome.STOP:
            return f"Stop: {decision.reasons[0]}{which}."
        now = self.evidence[-1] if self.evidence else 0.0
        return f"Go on: {less} is {now:.3g} of {self.need:g}{which}."

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        loop, ship = self.loop, self.loop.ship
        over = loop.over_baseline
        interval = None if over is None or over.interval is None else asdict(over.interval)
        return {
            "schema": self.schema,
            "of": self.of,
            "eps": self.rules.eps,
            "delta": self.rules.delta,
            "gate": self.rules.mode,
            "need": self.need,
            "rounds": [
                {
                    "round": number,
                    "id": one.version.id,
                    "name": one.version.name,
                    "pass_rate": one.version.score,
                    "left_out": one.left_out,
                    "against": one.against,
                    "shared": one.shared,
                    "change": one.change,
                    "gain": one.gain,
                    "kept": one.kept,
                    "e_value": e_value,
                    "evidence": evidence,
                }
                for number, one, e_value, evidence in self.told
            ],
            "earliest_possible_stop": loop.decision.evidence.get("earliest_possible_stop"),
            "ship": None
            if ship is None
            else {
                "id": ship.id,
                "name": ship.name,
                "pass_rate": ship.score,
                "over_baseline": None if over is None else over.difference.estimate,
                "ci": interval,
            },
            "decision": decision_json(loop.decision),
            "sentence": self.summary(),
            "exit_code": self.exit_code,
        }
