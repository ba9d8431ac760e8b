"""The restart e-detector: evidence that gains have fallen below what is worth the effort."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, as_values
from fairtrial.stats.checks import check_between, check_finite
from fairtrial.stats.edetector.bets import Agrapa, Bet, Histories
from fairtrial.stats.errors import ArgumentError

Kind = Literal["sr", "cusum"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence after each round that the loop has stopped improving.

    Attributes:
        log_evidence: Natural logarithm of the evidence, a round each; None where it is zero.
        e_values: Factor by which the round changed the oldest restart's evidence.
        stop_round: First round with evidence >= 1/delta, from 1; None when there is none.
        need: 1/delta.
        delta: One over the mean number of rounds before a false stop, at least.
        eps: The smallest gain worth going on for.
        n: Rounds.
        method: `sr agrapa` and the like.
    """

    log_evidence: tuple[float | None, ...]
    e_values: tuple[float, ...]
    stop_round: int | None
    need: float
    delta: float
    eps: float
    n: int
    method: str

    @property
    def evidence(self) -> tuple[float, ...]:
        """The evidence after each round; infinite beyond the range of a float."""
        return tuple(
            0.0 if log is None else (math.exp(log) if log < 709.0 else math.inf)
            for log in self.log_evidence
        )

    def describe(self) -> str:
        """Return the evidence in words."""
        if not self.n:
            return "No rounds yet."
        now = self.evidence[-1]
        state = (
            f"reached the {self.need:g} needed in round {self.stop_round}"
            if self.stop_round is not None
            else f"stands at {now:.3g} of the {self.need:g} needed"
        )
        return (
            f"After {self.n} rounds the evidence that gains are below {self.eps:g} {state}. "
            f"A loop that still gains {self.eps:g} a round would stop by mistake only after "
            f"{self.need:g} rounds or more on average."
        )


@dataclass(slots=True)
class _Restarts:
    """Log evidence (a row a mixture member, a column a restart) and history of every restart."""

    log_evidence: FloatArray
    n: FloatArray
    total: FloatArray
    deviation: FloatArray


def e_detector(
    gains: npt.ArrayLike,
    *,
    eps: float,
    upper: float | Sequence[float],
    delta: float = 0.05,
    kind: Kind = "sr",
    bet: Bet | None = None,
) -> Evidence:
    """Return the evidence after each round that the mean gain has fallen below eps.

    Formula: for each restart j <= t, E_j is multiplied by max(0, 1 + stake (eps - min(y, b))),
    0 <= stake < 1/(b - eps). `sr`: evidence is the sum over restarts; `cusum`: the largest.
    While the mean gain is at least eps, E[evidence at a stop] <= E[rounds], so the mean number of
    rounds to a false stop is at least 1/delta. Source: Shin, Ramdas & Rinaldo 2024, "E-detectors",
    NEJSDS 2:229; the bound b that shrinks with the room left is ours.

    Use it for loops of accepted and rejected changes; it may be read after every round. It lies
    when the same measured incumbent is compared again and again (its luck stays in), and it is
    for long loops: at delta = .05 a false stop takes 20 rounds or more on average.

    Args:
        gains: One a round; 0 for a rejected change.
        eps: The smallest gain worth going on for.
        upper: Largest possible gain, above eps: one number or one a round known before it.
        delta: Stop at evidence 1/delta.
        kind: `sr` (Shiryaev-Roberts), quicker, or `cusum`.
        bet: How to stake; aGRAPA unless given. `cusum` takes bets without a history only.

    Raises:
        ArgumentError: a bound is not above eps, or an argument is out of range.
    """
    check_between("delta", delta, 0.0, 1.0)
    check_finite("eps", eps)
    if kind not in ("sr", "cusum"):
        raise ArgumentError("kind", f"must be 'sr' or 'cusum', not {kind!r}")
    rounds = as_values("gains", gains)
    bounds = _bounds(upper, rounds.size, eps)
    chosen = Agrapa() if bet is None else bet
    logs, factors = (_sum_of_restarts if kind == "sr" else _largest)(rounds, bounds, eps, chosen)
    limit = math.log(1.0 / delta)
    reached = [k for k, log in enumerate(logs) if log >= limit - 1e-12]
    return Evidence(
        log_evidence=tuple(None if math.isinf(log) else log for log in logs),
        e_values=tuple(factors),
        stop_round=reached[0] + 1 if reached else None,
        need=1.0 / delta,
        delta=delta,
        eps=eps,
        n=rounds.size,
        method=f"{kind} {chosen.name}",
    )


def _bounds(upper: float | Sequence[float], n: int, eps: float) -> FloatArray:
    bounds = (
        np.broadcast_to(np.asarray(upper, dtype=np.float64), (n,))
        if np.ndim(upper) == 0
        else as_values("upper", upper)
    )
    if bounds.size != n:
        raise ArgumentError("upper", f"has {bounds.size} bounds for {n} gains")
    if n and not (np.isfinite(bounds).all() and float(bounds.min()) > eps):
        raise ArgumentError("upper", f"must be finite and above eps = {eps:g}")
    return bounds


def _sum_of_restarts(
    gains: FloatArray, bounds: FloatArray, eps: float, bet: Bet
) -> tuple[list[float], list[float]]:
    logs: list[float] = []
    factors: list[float] = []
    state = _Restarts(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))
    for gain, bound in zip(gains, bounds, strict=True):
        y = min(float(gain), float(bound))
        state = _restarted(state)
        stakes = bet.stakes(
            Histories(state.n, state.total, state.deviation), eps, float(bound) - eps
        )
        if state.log_evidence.shape[0] == 0:
            state.log_evidence = np.full((stakes.shape[0], 1), -math.log(stakes.shape[0]))
        growth = np.maximum(0.0, 1.0 + stakes * (eps - y))
        with np.errstate(divide="ignore"):
            before = float(np.logaddexp.reduce(state.log_evidence[:, 0]))
            state.log_evidence = state.log_evidence + np.log(growth)
            logs.append(float(np.logaddexp.reduce(state.log_evidence, axis=None)))
            after = float(np.logaddexp.reduce(state.log_evidence[:, 0]))
        factors.append(math.exp(after - before) if math.isfinite(before) else 0.0)
        _remember(state, y, bet)
    return logs, factors


def _restarted(state: _Restarts) -> _Restarts:
    """Return the state with one more restart, which has seen nothing."""
    members = state.log_evidence.shape[0]
    fresh = np.full((members, 1), -math.log(members) if members else 0.0)
    log_evidence = np.hstack([state.log_evidence, fresh]) if members else state.log_evidence
    return _Restarts(
        log_evidence,
        np.append(state.n, 0.0),
        np.append(state.total, 0.0),
        np.append(state.deviation, 0.0),
    )


def _remember(state: _Restarts, y: float, bet: Bet) -> None:
    state.n = state.n + 1.0
    state.total = state.total + y
    state.deviation = state.deviation + (y - bet.running_mean(state.n, state.total)) ** 2


def _largest(
    gains: FloatArray, bounds: FloatArray, eps: float, bet: Bet
) -> tuple[list[float], list[float]]:
    """Return CUSUM evidence: max(evidence, 1) times the round's factor, for one fixed stake."""
    nothing = np.zeros(1)
    logs: list[float] = []
    factors: list[float] = []
    log = 0.0
    for gain, bound in zip(gains, bounds, strict=True):
        stakes = bet.stakes(Histories(nothing, nothing, nothing), eps, float(bound) - eps)
        if bet.name != "fixed":
            raise ArgumentError("bet", "cusum takes one fixed stake, without a history")
        factor = max(0.0, 1.0 + float(stakes[0, 0]) * (eps - min(float(gain), float(bound))))
        log = max(log, 0.0) + (math.log(factor) if factor > 0.0 else -math.inf)
        logs.append(log)
        factors.append(factor)
    return logs, factors
