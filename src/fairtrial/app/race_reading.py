"""What a race came to: who stayed in each round, and who won."""

from __future__ import annotations

from typing import Any

from fairtrial.engine.designs.halving import Halving
from fairtrial.engine.stages import Outcomes
from fairtrial.model.design import DesignReading
from fairtrial.model.json import Json

FLATTERED = "flattered by the choice: it is no estimate of its effect"


def race_reading(design: Halving, _outcomes: Outcomes) -> DesignReading:
    """Return the rounds of a race that was played, and its winner."""
    start = design.plan.arms[0].name
    rounds: list[dict[str, Any]] = [
        {
            "round": number,
            "cases": standing.cases,
            "rates": dict(standing.rates),
            "decided": dict(standing.decided),
            "kept": list(standing.kept),
        }
        for number, standing in enumerate(design.standings, start=1)
    ]
    winner = design.winner
    last = design.standings[-1].rates if design.standings else {}
    facts: dict[str, Json] = {
        "start": start,
        "winner": winner,
        "winner_rate": None if winner is None else last.get(winner),
        "rounds": rounds,
        "budget": design.race.budget,
    }
    if winner is None:
        return DesignReading("halving", ("The race has no winner yet.",), facts)
    many = len(design.plan.arms)
    won = "the start itself won" if winner == start else f"{winner} won"
    rate = facts["winner_rate"]
    counted = "1 round" if len(rounds) == 1 else f"{len(rounds)} rounds"
    scored = "" if rate is None else f" with {100 * rate:.1f}% ({FLATTERED})"
    line = f"Of {many:,} configurations, {won} the race over {counted}{scored}."
    return DesignReading("halving", (line,), facts)
