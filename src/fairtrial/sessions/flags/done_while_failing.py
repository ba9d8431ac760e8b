"""`done-while-failing`: the agent said that it was done while the tests it ran were failing.

A session has it for each bad decision point of `done-while-failing`: a turn ends with a text that
says that the work is done, after a test run of that turn that failed. Level `warn`.

The rule stands in `fairtrial.sessions.decision_points.done_while_failing`.
"""

from __future__ import annotations

from typing import Final

from fairtrial.model.flag import FlagLevel
from fairtrial.sessions.decision_points.anchor import flags_of
from fairtrial.sessions.decision_points.done_while_failing import ANCHOR
from fairtrial.sessions.flags.rule import CourseRule

RULE: Final = CourseRule(
    "done-while-failing",
    "the agent said that it was done while the tests it ran were failing",
    flags_of(ANCHOR, FlagLevel.WARN),
)
