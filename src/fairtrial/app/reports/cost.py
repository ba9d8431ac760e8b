"""What a run is expected to cost."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.model.wording import usd


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What the trials that are due are expected to cost, tasks and graders together.

    Attributes:
        least_usd: At least; None when unknown.
        most_usd: At most; the same as the least when it is a mean of earlier runs.
        trial_least_usd: A trial, at least.
        trial_most_usd: A trial, at most.
        basis: Where it comes from, in words.
        reason: Why it is unknown.
    """

    least_usd: float | None = None
    most_usd: float | None = None
    trial_least_usd: float | None = None
    trial_most_usd: float | None = None
    basis: str | None = None
    reason: str | None = None

    def text(self) -> str:
        """Return it as one line."""
        if self.least_usd is None or self.most_usd is None:
            return f"unknown: {self.reason}"
        if self.least_usd == self.most_usd:
            return f"about {usd(self.least_usd)}, from {self.basis}"
        return f"{usd(self.least_usd)} to {usd(self.most_usd)}, from {self.basis}"
