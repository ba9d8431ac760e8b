"""`env-broken`: what verifies the code could not be started.

A session has it when a test, type check, lint or build could not start or found nothing to do (no
such program or script, a missing package, no tests), and afterwards none of its kind ran in any
thread. Level `info`: the surroundings lack something, which is not the agent's failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.conduct.verification import CheckKind
from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.sessions.course import Check, Course
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.verdicts import Verdict

_NAME: Final = "env-broken"


def _find(course: Course) -> Iterator[Flag]:
    broken: dict[CheckKind, list[Check]] = {}
    for check in course.checks:
        if check.verdict is Verdict.NO_RUN:
            broken.setdefault(check.kind, []).append(check)
        elif check.ran:
            broken.pop(check.kind, None)
    if not broken:
        return
    checks = [check for found in broken.values() for check in found]
    programs = ", ".join(dict.fromkeys(check.program for check in checks))
    yield Flag(
        _NAME,
        FlagLevel.INFO,
        f"no {' or '.join(broken)} could be run ({programs})",
        tuple(sorted({check.number for check in checks})),
    )


RULE: Final = CourseRule(_NAME, "what verifies the code could not be started", _find)
