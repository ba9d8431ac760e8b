"""Rules that end a run early, each fed with the trials in the order they end."""

from __future__ import annotations

from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause


class InfraStreak:
    """Asks to stop once so many trials in a row ended on infrastructure.

    Going on would only burn time or money: what failed so often will fail again, and none of it
    says anything about the arm under test.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._streak = 0

    def see(self, trial: Trial) -> str | None:
        """Take in the next trial; return why to stop, or None to go on."""
        self._streak = self._streak + 1 if trial.cause is Cause.INFRA else 0
        if self._longest and self._streak >= self._longest:
            last = f": {trial.reason}" if trial.reason else ""
            return f"{self._streak} trials in a row failed on infrastructure{last}"
        return None
