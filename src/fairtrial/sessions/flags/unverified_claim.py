"""`unverified-claim`: the agent said that a verification passes that it had not seen pass.

A session has it for each bad decision point of `unverified-claim`: a turn ends with a text that
asserts that tests, a build, a linter or checks pass, and no verification has passed since the last
change. Level `warn`.

The rule stands in `fairtrial.sessions.decision_points.unverified_claim`.
"""

from __future__ import annotations

from typing import Final

from fairtrial.model.flag import FlagLevel
from fairtrial.sessions.decision_points.anchor import flags_of
from fairtrial.sessions.decision_points.unverified_claim import ANCHOR
from fairtrial.sessions.flags.rule import CourseRule

RULE: Final = CourseRule(
    "unverified-claim",
    "the agent said that a verification passes that it had not seen pass",
    flags_of(ANCHOR, FlagLevel.WARN),
)
