"""Which recorded call answers the next request of a trial: a trial follows its recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fairtrial.model.recorded_call import RecordedCall

NO_RECORDING = "no recording of this trial"
NO_MORE = "no more recorded calls"
PAST_UNTIL = "after --replay-until"


def last_try(calls: Sequence[RecordedCall], since: datetime) -> tuple[RecordedCall, ...]:
    """Return the model calls of a trial's recording, in the order they were made.

    A trial may have been tried several times, or run anew; each time its calls count from 1.

    Args:
        calls: All calls stored under the trial's key.
        since: When the try that the trial's record comes from began.
    """
    made = sorted(
        (call for call in calls if call.started_at >= since),
        key=lambda call: (call.started_at, call.number),
    )
    again = [at for at, call in enumerate(made) if call.number == 1][1:]
    if again:
        made = made[: again[0]]
    return tuple(
        sorted((call for call in made if call.api is not None), key=lambda call: call.number)
    )


def why_not_served(call: RecordedCall) -> str | None:
    """Return why a recorded call has no answer that could be served; None when it has one."""
    if call.status is None or call.problem is not None:
        return f"recorded without a whole answer ({call.problem or 'none came'})"
    return None


def _parallel(calls: Sequence[RecordedCall]) -> list[int]:
    """Return for each call the number of its group: calls that were under way together."""
    groups: list[int] = []
    until: datetime | None = None
    for call in calls:
        together = until is not None and call.started_at < until
        groups.append(groups[-1] if together else (groups[-1] + 1 if groups else 0))
        ended = call.started_at + timedelta(seconds=call.duration_s)
        until = ended if until is None or not together else max(until, ended)
    return groups


@dataclass
class Following:
    """Where one try of a trial stands in its recording.

    A request is answered by the first call not served yet that is the same. No call is skipped for
    that, but such as were under way together with one that was served: requests that a program
    makes side by side come in any order. The first request that finds none is the trial's first
    changed call; from there on nothing is served.

    Attributes:
        calls: The recording.
        until: Only so many of its calls are served; None serves all.
        asked: Requests so far.
        served: How many of them were answered from the recording.
        diverged_at: The number of the first one that was not.
        why: What is different about it.
    """

    calls: Sequence[RecordedCall]
    until: int | None = None
    asked: int = 0
    served: int = 0
    diverged_at: int | None = None
    why: str | None = None
    _groups: Sequence[int] = field(init=False)
    _done: set[int] = field(init=False, default_factory=set)
    _begun: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._groups = _parallel(self.calls)

    def number(self) -> int:
        """Count a request, and return its number from 1."""
        self.asked += 1
        return self.asked

    def open_calls(self) -> list[RecordedCall]:
        """Return the recorded calls that may answer the next request, in their order."""
        if self.diverged_at is not None:
            return []
        found = []
        for at, call in enumerate(self.calls[: self.until]):
            if at in self._done:
                continue
            found.append(call)
            if self._groups[at] not in self._begun and not self._more_of_group(at):
                break
        return found

    def match(self, canonical: str | None) -> RecordedCall | None:
        """Return the recorded call that is the same as a request; None when there is none.

        One without an answer gives way to a later one: the program asked again.
        """
        if canonical is None:
            return None
        alike = [call for call in self.open_calls() if call.canonical == canonical]
        if alike and why_not_served(alike[0]) is not None:
            alike += self._again(alike[0], canonical)
        good = next((call for call in alike if why_not_served(call) is None), None)
        return good or (alike[0] if alike else None)

    def serve(self, call: RecordedCall) -> None:
        """Take note that a recorded call is served; unanswered ones that it repeats are done."""
        at = self.calls.index(call)
        for earlier in range(at):
            other = self.calls[earlier]
            if other.canonical == call.canonical and why_not_served(other) is not None:
                self._done.add(earlier)
        self._done.add(at)
        self._begun.add(self._groups[at])
        self.served += 1

    def diverge(self, number: int, why: str) -> None:
        """Take note that a request is not served, and why."""
        if self.diverged_at is None or number < self.diverged_at:
            self.diverged_at, self.why = number, why

    def at_end(self) -> str | None:
        """Return why no recorded call is left for the next request; None when one is."""
        if not self.calls:
            return NO_RECORDING
        if self.open_calls():
            return None
        cut = self.until is not None and self.until < len(self.calls)
        return PAST_UNTIL if cut else NO_MORE

    def _more_of_group(self, at: int) -> bool:
        """Return whether the next call was under way together with this one."""
        return at + 1 < len(self.calls) and self._groups[at + 1] == self._groups[at]

    def _again(self, call: RecordedCall, canonical: str) -> list[RecordedCall]:
        at = self.calls.index(call)
        return [
            other
            for place, other in enumerate(self.calls[: self.until])
            if place > at and place not in self._done and other.canonical == canonical
        ]
