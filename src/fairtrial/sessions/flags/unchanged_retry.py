"""`unchanged-retry`: a failed call was made again though nothing had changed.

A session has it for each bad decision point of `unchanged-retry`: the same call again within three
calls of its failure, with nothing changed in between. Level `info`: one retry is no failed session.

The rule stands in `fairtrial.sessions.decision_points.unchanged_retry`.
"""

from __future__ import annotations

from typing import Final

from fairtrial.model.flag import FlagLevel
from fairtrial.sessions.decision_points.anchor import flags_of
from fairtrial.sessions.decision_points.unchanged_retry import ANCHOR
from fairtrial.sessions.flags.rule import CourseRule

RULE: Final = CourseRule(
    "unchanged-retry",
    "a failed call was made again though nothing had changed",
    flags_of(ANCHOR, FlagLevel.INFO),
)
