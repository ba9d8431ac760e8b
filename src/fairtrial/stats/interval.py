"""The two small results that every procedure shares: an interval and a p-value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval.

    Attributes:
        method: How it was made, e.g. `wilson`.
        level: Its confidence level, e.g. 0.95.
        lower: Its lower end.
        upper: Its upper end.
    """

    method: str
    level: float
    lower: float
    upper: float

    @property
    def width(self) -> float:
        """Upper end less lower end."""
        return self.upper - self.lower

    def excludes(self, value: float) -> bool:
        """Return whether `value` lies outside the interval."""
        return not self.lower <= value <= self.upper

    def clipped(self, low: float, high: float) -> Interval:
        """Return the interval cut to the values that are possible at all."""
        lower = min(max(self.lower, low), high)
        upper = min(max(self.upper, low), high)
        return Interval(self.method, self.level, lower, upper)

    def describe(self) -> str:
        """Return the interval in words."""
        return (
            f"between {self.lower:.4g} and {self.upper:.4g} "
            f"({100 * self.level:g} % confidence, {self.method})"
        )


@dataclass(frozen=True, slots=True)
class PValue:
    """How often luck alone would look at least this extreme.

    Attributes:
        method: How it was made, e.g. `mcnemar mid-p`.
        value: The probability, in [0, 1].
        seed: The seed of the random draws; None when nothing was drawn.
    """

    method: str
    value: float
    seed: int | None = None

    def describe(self) -> str:
        """Return the p-value in words."""
        return (
            f"if nothing had changed, a result like this would come up {how_often(self.value)} "
            f"(p, {self.method})"
        )


def how_often(p: float) -> str:
    """Return a probability as a share of the time, in words that can follow a verb."""
    text = f"{p:.2g}"
    return "every time" if text == "1" else f"{text} of the time"
