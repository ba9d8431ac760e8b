"""Has an improvement loop reached its plateau, and which round ships?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fairtrial.model.decision import Decision, Outcome
from fairtrial.model.json import Json
from fairtrial.stats.checks import check_between, check_finite
from fairtrial.stats.edetector.bets import Bet
from fairtrial.stats.edetector.detector import Evidence, e_detector
from fairtrial.stats.errors import ArgumentError

_MOST = 1e300
"""Evidence that is written down: JSON has no infinity."""

Mode = Literal["greedy", "chain"]


@dataclass(frozen=True, slots=True)
class LoopRound:
    """One round of an improvement loop.

    Attributes:
        score: Mean score of the round's configuration on the shared cases.
        accepted: Whether it was kept; None lets the score decide, and a chain keeps it.
    """

    score: float
    accepted: bool | None = None


@dataclass(frozen=True, slots=True)
class PlateauRules:
    """When a loop should stop.

    Attributes:
        eps: The smallest gain a round must be worth.
        delta: One over the mean number of rounds before a false stop.
        max_gain: Largest gain one round can bring.
        mode: `greedy` compares with the best kept so far, `chain` with the round before.
        bet: How evidence is staked; aGRAPA unless given.
    """

    eps: float = 0.01
    delta: float = 0.05
    max_gain: float = 1.0
    mode: Mode = "greedy"
    bet: Bet | None = None

    def __post_init__(self) -> None:
        check_between("eps", self.eps, -1.0, 1.0)
        check_between("delta", self.delta, 0.0, 1.0)
        check_between("max_gain", self.max_gain, 0.0, float("inf"))
        if self.mode not in ("greedy", "chain"):
            raise ArgumentError("mode", f"must be 'greedy' or 'chain', not {self.mode!r}")


@dataclass(frozen=True, slots=True)
class Progress:
    """Gains of a loop, with what each round could at most have gained.

    Attributes:
        gains: One a round after the first.
        bounds: Largest possible gain of the same round, known before it.
        best: Position of the round to ship.
    """

    gains: tuple[float, ...]
    bounds: tuple[float, ...]
    best: int


def progress(rounds: Sequence[LoopRound], rules: PlateauRules) -> Progress:
    """Return gains, bounds and the round to ship.

    The bound min(max_gain, 1 - incumbent) is known before the round, so using it keeps the
    guarantee, and it about halves the delay. Ours.

    Raises:
        ArgumentError: there is no round, or a score is outside [0, 1].
    """
    if not rounds:
        raise ArgumentError("rounds", "needs at least one")
    for entry in rounds:
        if not 0.0 <= check_finite("score", entry.score) <= 1.0:
            raise ArgumentError("score", f"must be in [0, 1], not {entry.score!r}")
    return _greedy(rounds, rules) if rules.mode == "greedy" else _chain(rounds, rules)


def _greedy(rounds: Sequence[LoopRound], rules: PlateauRules) -> Progress:
    best, incumbent = 0, rounds[0].score
    gains, bounds = [], []
    for at, entry in enumerate(rounds[1:], start=1):
        gain = entry.score - incumbent
        bounds.append(min(rules.max_gain, 1.0 - incumbent))
        kept = gain > 0.0 if entry.accepted is None else entry.accepted
        gains.append(max(0.0, gain) if kept else 0.0)
        if kept:
            best, incumbent = at, entry.score
    return Progress(tuple(gains), tuple(bounds), best)


def _chain(rounds: Sequence[LoopRound], rules: PlateauRules) -> Progress:
    best, incumbent, highest = 0, rounds[0].score, rounds[0].score
    gains, bounds = [], []
    for at, entry in enumerate(rounds[1:], start=1):
        bounds.append(min(rules.max_gain, 1.0 - incumbent))
        if entry.accepted is False:
            gains.append(0.0)
            continue
        gains.append(entry.score - incumbent)
        incumbent = entry.score
        if entry.score > highest:
            best, highest = at, entry.score
    return Progress(tuple(gains), tuple(bounds), best)


def plateau(rounds: Sequence[LoopRound], rules: PlateauRules | None = None) -> Decision:
    """Decide whether a loop stops, goes on, or has too few rounds to tell.

    Args:
        rounds: The baseline and every round after it, in order.
        rules: When to stop.

    Raises:
        ArgumentError: there is no round, or a score is outside [0, 1].
    """
    bars = rules or PlateauRules()
    found = progress(rounds, bars)
    going_on = [one.score for one in rounds[1:] if one.accepted is not False]
    return plateau_of_gains(found, bars, last=[rounds[0].score, *going_on][-1])


def plateau_of_gains(
    found: Progress, rules: PlateauRules, *, last: float | None = None
) -> Decision:
    """Decide from gains and bounds, as `plateau` does from rounds.

    Args:
        found: Gains, bounds and the round to ship.
        rules: When to stop.
        last: Score of the incumbent, for the chain mode's ceiling; None when unknown.
    """
    if len(found.gains) < 2:
        counted = "one gain is too few" if found.gains else "there is no gain yet"
        reason = f"{counted}: two are needed, so three rounds"
        return Decision(Outcome.TOO_FEW, (reason,), {"gains": list(found.gains)})
    room = _room_left(found, rules, last)
    if room is not None and room <= rules.eps:
        reason = f"at the ceiling: no round can gain {rules.eps:g} any more"
        evidence: dict[str, Json] = {"gains": list(found.gains), "ship_round": found.best}
        return Decision(Outcome.STOP, (reason,), evidence, _advice())
    # A round whose bound is not above eps tells nothing about productivity.
    telling = [k for k, bound in enumerate(found.bounds) if bound > rules.eps]
    usable = [(found.gains[k], found.bounds[k]) for k in telling]
    seen = _evidence([g for g, _ in usable], [b for _, b in usable], rules)
    ahead = _rounds_to_stop(usable, room, rules)
    stops = seen.stop_round is not None
    reasons = (
        seen.describe(),
        f"it is for long loops: a false stop comes after {seen.need:g} rounds on average, or later",
        "an incumbent that is measured once and reused keeps the luck it was chosen for",
    )
    return Decision(
        Outcome.STOP if stops else Outcome.CONTINUE,
        reasons,
        {
            "method": seen.method,
            "gains": list(found.gains),
            "evidence": [min(value, _MOST) for value in seen.evidence],
            "e_values": list(seen.e_values),
            "telling": [k in telling for k in range(len(found.bounds))],
            "need": seen.need,
            "eps": rules.eps,
            "stop_round": telling[seen.stop_round - 1] + 1 if seen.stop_round else None,
            "earliest_possible_stop": None if ahead is None else len(found.gains) + ahead,
            "ship_round": found.best,
        },
        _advice() if stops else (),
    )


def _advice() -> tuple[str, ...]:
    return (
        (
            "re-score the round to ship on held-out cases: the best of many measured rounds is "
            "flattered by the choice"
        ),
    )


def _evidence(gains: list[float], bounds: list[float], rules: PlateauRules) -> Evidence:
    return e_detector(gains, eps=rules.eps, upper=bounds, delta=rules.delta, bet=rules.bet)


def _room_left(found: Progress, rules: PlateauRules, last: float | None) -> float | None:
    if rules.mode == "chain":
        return None if last is None else min(rules.max_gain, 1.0 - last)
    return min(rules.max_gain, found.bounds[-1] - found.gains[-1])


def _rounds_to_stop(
    usable: list[tuple[float, float]], room: float | None, rules: PlateauRules
) -> int | None:
    """Return how many more rounds without gain would stop the loop; None beyond 100."""
    bound = room if room is not None else rules.max_gain
    gains, bounds = [g for g, _ in usable], [b for _, b in usable]
    if not gains:
        return None
    seen = _evidence([*gains, *[0.0] * 100], [*bounds, *[bound] * 100], rules)
    return None if seen.stop_round is None else max(0, seen.stop_round - len(gains))
