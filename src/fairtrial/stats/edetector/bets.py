"""How much evidence to stake on "the next gain is below eps", from what has been seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairtrial.stats.arrays import FloatArray
from fairtrial.stats.checks import check_at_least, check_between
from fairtrial.stats.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Histories:
    """What each restart has seen before the round to bet on.

    Attributes:
        n: Gains seen since the restart.
        total: Their sum.
        deviation: Sum of (gain - running mean after it)², the mean shrunk to the prior.
    """

    n: FloatArray
    total: FloatArray
    deviation: FloatArray


class Bet(Protocol):
    """Stakes from histories; predictable, since only the past is given."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def running_mean(self, n: FloatArray, total: FloatArray) -> FloatArray:
        """Return the mean that deviations are taken from."""
        ...

    def stakes(self, seen: Histories, eps: float, room: float) -> FloatArray:
        """Return stakes, one row a member of a mixture and one column a restart.

        Args:
            seen: What each restart has seen.
            eps: The smallest gain worth going on for.
            room: Largest possible gain less eps; a stake is at most 1/room.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Prior:
    mean: float = 0.0
    variance: float = 0.01
    weight: float = 1.0

    def mean_of(self, n: FloatArray, total: FloatArray) -> FloatArray:
        return (self.weight * self.mean + total) / (self.weight + n)

    def variance_of(self, seen: Histories) -> FloatArray:
        return (self.weight * self.variance + seen.deviation) / (self.weight + seen.n)


@dataclass(frozen=True, slots=True)
class Agrapa:
    """The approximately growth-rate-adaptive stake, the default.

    Formula: clip((eps - m)/(v + (eps - m)²), 0, cap/room) with mean m and variance v shrunk to a
    prior. Source: Waudby-Smith & Ramdas 2024, JRSS B 86:1.

    Attributes:
        cap: Largest share of the maximal stake.
        prior_mean: Mean before any gain.
        prior_variance: Variance before any gain.
        prior_weight: How many gains the prior counts as.
    """

    cap: float = 0.9
    prior_mean: float = 0.0
    prior_variance: float = 0.01
    prior_weight: float = 1.0

    def __post_init__(self) -> None:
        check_between("cap", self.cap, 0.0, 1.0)
        check_at_least("prior_variance", self.prior_variance, 1e-12)
        check_at_least("prior_weight", self.prior_weight, 1e-12)

    @property
    def name(self) -> str:
        """What reports call it."""
        return "agrapa"

    def _prior(self) -> _Prior:
        return _Prior(self.prior_mean, self.prior_variance, self.prior_weight)

    def running_mean(self, n: FloatArray, total: FloatArray) -> FloatArray:
        """Return the shrunk mean."""
        return self._prior().mean_of(n, total)

    def stakes(self, seen: Histories, eps: float, room: float) -> FloatArray:
        """Return one row of stakes."""
        edge = eps - self.running_mean(seen.n, seen.total)
        raw = edge / (self._prior().variance_of(seen) + edge * edge)
        return np.clip(raw, 0.0, self.cap / room)[None, :]


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The stake that maximises a lower bound on growth; more careful than aGRAPA.

    Formula: clip((eps - m)/(room |eps - m| + v + (eps - m)²), 0, cap/room). Source: LBOW of
    Waudby-Smith & Ramdas 2024, JRSS B 86:1.
    """

    cap: float = 0.9
    prior_mean: float = 0.0
    prior_variance: float = 0.01
    prior_weight: float = 1.0

    @property
    def name(self) -> str:
        """What reports call it."""
        return "lbow"

    def _prior(self) -> _Prior:
        return _Prior(self.prior_mean, self.prior_variance, self.prior_weight)

    def running_mean(self, n: FloatArray, total: FloatArray) -> FloatArray:
        """Return the shrunk mean."""
        return self._prior().mean_of(n, total)

    def stakes(self, seen: Histories, eps: float, room: float) -> FloatArray:
        """Return one row of stakes."""
        edge = eps - self.running_mean(seen.n, seen.total)
        raw = edge / (room * np.abs(edge) + self._prior().variance_of(seen) + edge * edge)
        return np.clip(raw, 0.0, self.cap / room)[None, :]


@dataclass(frozen=True, slots=True)
class Fixed:
    """Fixed shares of the maximal stake; several make a uniform mixture.

    Source: Shin, Ramdas & Rinaldo 2024, "E-detectors", NEJSDS 2:229.

    Attributes:
        fractions: Shares in [0, 1], e.g. (0.5,) or (0.1, 0.3, 0.5, 0.7, 0.9).
    """

    fractions: tuple[float, ...] = (0.5,)

    def __post_init__(self) -> None:
        if not self.fractions or not all(0.0 <= f <= 1.0 for f in self.fractions):
            raise ArgumentError("fractions", f"must be shares in [0, 1], not {self.fractions!r}")

    @property
    def name(self) -> str:
        """What reports call it."""
        return "fixed" if len(self.fractions) == 1 else "mixture"

    def running_mean(self, n: FloatArray, total: FloatArray) -> FloatArray:
        """Return the plain mean; stakes do not use it."""
        return total / np.maximum(n, 1.0)

    def stakes(self, seen: Histories, eps: float, room: float) -> FloatArray:
        """Return one row of stakes a fraction."""
        del eps
        return np.outer(np.array(self.fractions) / room, np.ones_like(seen.n))


MIXTURE = Fixed((0.1, 0.3, 0.5, 0.7, 0.9))
"""A uniform mixture of five fixed stakes."""
