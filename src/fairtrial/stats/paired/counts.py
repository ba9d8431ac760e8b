"""The two-by-two table of paired pass/fail results."""

from __future__ import annotations

from dataclasses import dataclass

from fairtrial.stats.checks import check_count
from fairtrial.stats.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """How many cases passed in both arms, only one, or neither.

    Attributes:
        both: Passed in baseline and candidate.
        fixed: Failed in the baseline, passed in the candidate.
        broken: Passed in the baseline, failed in the candidate.
        neither: Failed in both.
    """

    both: int
    fixed: int
    broken: int
    neither: int

    def __post_init__(self) -> None:
        for name in ("both", "fixed", "broken", "neither"):
            object.__setattr__(self, name, check_count(name, getattr(self, name)))
        if self.n == 0:
            raise ArgumentError("both", "the table is empty: a difference needs a case")

    @property
    def n(self) -> int:
        """All cases."""
        return self.both + self.fixed + self.broken + self.neither

    @property
    def difference(self) -> float:
        """Pass rate of the candidate less that of the baseline."""
        return (self.fixed - self.broken) / self.n
