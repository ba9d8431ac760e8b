"""What fails in a test run, and whether it failed before."""

from __future__ import annotations

import re
from typing import Final

from fairtrial.conduct.verification import CheckKind
from fairtrial.sessions.course import Check, Course
from fairtrial.sessions.repetition import normalised
from fairtrial.sessions.verdicts import Verdict

_LOOKED_AT: Final = 20_000
_FAILURE: Final = re.compile(
    r"^(?:FAILED|ERROR) \S+|^--- FAIL: \S+|^test \S+ \.\.\. FAILED|^\s*(?:✕|✗|×|not ok) .*"
    r"|^(?:FAIL|ERROR): \S+.*|^E  +.*",
    re.MULTILINE,
)


def failed_before_changes(course: Course, check: Check) -> bool:
    """Return whether a run fails in the same way as the last one before the first change."""
    first = next((mutation.number for mutation in course.code_mutations()), None)
    if first is None:
        return False
    before = [
        other
        for other in course.checks
        if other.kind is CheckKind.TEST and other.number < first and other.verdict is Verdict.FAIL
    ]
    return bool(before) and failures(before[-1]) == failures(check)


def failures(check: Check) -> tuple[str, ...]:
    """Return what failed in a run, without what differs from run to run."""
    text = check.result.text
    found = sorted({normalised(match[0]) for match in _FAILURE.finditer(text[-_LOOKED_AT:])})
    return tuple(found) or (normalised(text[-4_000:]),)
