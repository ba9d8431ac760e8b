"""`looping`: the same calls brought the same results again and again.

A session has it when, in one thread, a cycle of one to four calls comes four times or more in a
row with equal inputs and with results that are equal but for times and ids, and no file was changed
in between. Looking whether something has happened meanwhile (`sleep`, `curl`, `gh run …`, waiting
for a background command) and to-do lists are passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import Operation
from fairtrial.sessions.course import Course, Step
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.repetition import is_poll, normalised

_NAME: Final = "looping"
_LONGEST_CYCLE: Final = 4
_TIMES: Final = 4
_MOST_EVIDENCE: Final = 20


def _find(course: Course) -> Iterator[Flag]:
    often = Counter((step.call.thread, step.key) for step in course.steps)
    if not often or max(often.values()) < _TIMES:
        return
    tracks: dict[str, _Track] = {}
    for step in course.steps:
        if step.call.operation is Operation.TODO:
            continue
        track = tracks.setdefault(step.call.thread, _Track())
        if step.mutations:
            yield from track.end()
            tracks[step.call.thread] = _Track()
        elif not is_poll(step.call, step.commands):
            yield from track.add(step)
    for track in tracks.values():
        yield from track.end()


class _Track:
    """The calls of a thread since its last change of a file."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._keys: list[bytes] = []
        self._texts: dict[int, str] = {}
        self._equal = [0] * (_LONGEST_CYCLE + 1)
        self._found = 0

    def add(self, step: Step) -> Iterator[Flag]:
        """Take the next call; yield a loop that it ends."""
        self.steps.append(step)
        self._keys.append(step.key)
        for period in range(1, _LONGEST_CYCLE + 1):
            self._equal[period] = self._equal[period] + 1 if self._repeats(period) else 0
        period = next(
            (p for p in range(1, _LONGEST_CYCLE + 1) if self._equal[p] >= (_TIMES - 1) * p), 0
        )
        if self._found and not period:
            yield self._flag(len(self.steps) - 1)
        self._found = period

    def end(self) -> Iterator[Flag]:
        """Yield the loop that is going on at the end."""
        if self._found:
            yield self._flag(len(self.steps))

    def _repeats(self, period: int) -> bool:
        last = len(self._keys) - 1
        if last < period or self._keys[last] != self._keys[last - period]:
            return False
        return self._text(last) == self._text(last - period)

    def _text(self, place: int) -> str:
        if place not in self._texts:
            result = self.steps[place].result
            self._texts[place] = f"{result.status} {normalised(result.text)}"
        return self._texts[place]

    def _flag(self, end: int) -> Flag:
        period = self._found
        start = end - period
        while start - 1 >= 0 and self._same(start - 1, start - 1 + period):
            start -= 1
        times = (end - start) // period
        calls = "call" if period == 1 else f"{period} calls"
        return Flag(
            _NAME,
            FlagLevel.WARN,
            f"the same {calls} {times} times, with the same result",
            tuple(step.call.number for step in self.steps[start:end])[:_MOST_EVIDENCE],
            {"cycle": period, "times": times},
        )

    def _same(self, place: int, other: int) -> bool:
        return self._keys[place] == self._keys[other] and self._text(place) == self._text(other)


RULE: Final = CourseRule(_NAME, "the same calls brought the same results again and again", _find)
