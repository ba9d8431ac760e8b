"""`user-correction`: the user told the agent that it had done wrong.

A session has it when a prompt of a person, after the agent had said or done something, begins with
a contradiction ("no, …", "that's wrong", "not what I asked", "stop"), asks for something to be
undone ("revert that", "undo"), or says that it does not work ("still fails", "you broke"). Only
the first 200 characters of a prompt are looked at. Level `info`. English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Source
from fairtrial.sessions.course import Course
from fairtrial.sessions.flags.rule import CourseRule

_NAME: Final = "user-correction"
_LOOKED_AT: Final = 200
_CORRECTION: Final = re.compile(
    r"^(?:no|nope|nah)\b(?! (?:problem|worries|rush|need|changes?))[,.!;: -]"
    r"|^(?:stop|wait,? no|wrong|incorrect|undo|revert)\b"
    r"|\bthat(?:'s| is| was)(?: just| still)? (?:wrong|incorrect|not (?:right|what|correct|it))"
    r"|\b(?:not|isn't|wasn't) what i (?:asked|meant|wanted|said)|\bi (?:said|asked|told you)\b"
    r"|\b(?:still|it|this|that) (?:doesn't|does not|didn't|isn't|not) (?:work|working|fixed|pass)"
    r"|\bstill (?:fails|failing|broken|wrong|crash\w*|the same (?:error|problem)|not )"
    r"|\byou (?:broke|forgot|missed|ignored|misunderstood|didn't|deleted|removed the wrong)\b"
    r"|\b(?:revert|undo|roll back) (?:that|this|your|the last|it|all)\b|^why did you\b"
)


def _find(course: Course) -> Iterator[Flag]:
    numbers: list[int] = []
    for before, turn in zip(course.turns, course.turns[1:], strict=False):
        prompt = turn.prompt
        if prompt is None or prompt.source is not Source.HUMAN or before.end <= before.start:
            continue
        text = prompt.text[:_LOOKED_AT].replace("\u2019", "'").strip().lower()
        if _CORRECTION.search(text):
            numbers.append(prompt.number)
    if numbers:
        times = "once" if len(numbers) == 1 else f"{len(numbers)} times"
        yield Flag(_NAME, FlagLevel.INFO, f"corrected by the user {times}", tuple(numbers))


RULE: Final = CourseRule(_NAME, "the user told the agent that it had done wrong", _find)
