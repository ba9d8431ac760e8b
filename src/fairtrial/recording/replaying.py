"""Serves the recorded calls of an experiment again, each trial its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from fairtrial.model.errors import FairtrialError
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallBody, RecordedCall
from fairtrial.model.replay import ReplayNote
from fairtrial.model.trial import TrialKey
from fairtrial.recording.canonical import difference
from fairtrial.recording.describing import CODED, CUT
from fairtrial.recording.exchange import DescribedRequest, ServedAnswer
from fairtrial.recording.following import Following, why_not_served

_FIRST_ERROR = 400
_WAITS = ("retry-after", "retry-after-ms", "x-should-retry-after")
"""Headers of an error that ask for a wait: what they speak of is long past."""


class Replay:
    """Answers requests of trials from their recordings."""

    def __init__(
        self,
        recording: Callable[[TrialKey], Sequence[RecordedCall]],
        body: Callable[[str], CallBody],
        until: int | None = None,
    ) -> None:
        """Make one.

        Args:
            recording: Returns the model calls recorded for a trial, in their order. Called in a
                thread.
            body: Returns the payloads of a call by its id. Called in a thread.
            until: Only so many calls of each trial are served; None serves all.
        """
        self._recording = recording
        self._body = body
        self._until = until
        self._trials: dict[str, Following] = {}

    async def begin(self, token: str, key: TrialKey) -> None:
        """Let the calls that come with a token follow the recording of a trial."""
        calls = await asyncio.to_thread(self._recording, key)
        self._trials[token] = Following(calls, self._until)

    def end(self, token: str) -> tuple[ReplayNote, Sequence[RecordedCall]]:
        """Return what came of it, and the recorded calls that were served."""
        at = self._trials.pop(token)
        note = ReplayNote(
            recorded=len(at.calls),
            served=at.served,
            live=at.asked - at.served,
            diverged_at=at.diverged_at,
            why=at.why,
        )
        return note, at.calls

    async def answer(self, token: str, request: DescribedRequest) -> ServedAnswer | None:
        """Return the recorded answer to a request; None when a model is to be asked.

        Only requests for a model's answer count; all others are passed on.
        """
        at = self._trials.get(token)
        if at is None or request.api is None:
            return None
        number = at.number()
        call = at.match(request.canonical)
        if call is None:
            call = await self._alike(at, number, request)
            if call is None:
                return None
        reason = why_not_served(call)
        if reason is None:
            at.serve(call)  # before anything is awaited: another request must not get it too
            try:
                body = await asyncio.to_thread(self._body, call.id)
            except FairtrialError as error:
                reason = f"its recorded answer cannot be read ({error.what})"
            else:
                reason = _damage(body)
                if reason is None:
                    return ServedAnswer(call, _without_waits(call, body))
            at.served -= 1
        at.diverge(number, reason)
        return None

    async def _alike(
        self, at: Following, number: int, request: DescribedRequest
    ) -> RecordedCall | None:
        """Say why a request has no recorded call; return one whose hash alone is different.

        A recording may come from a release that took less, or more, for the same.
        """
        if at.diverged_at is not None:
            return None
        ended = at.at_end()
        if ended is not None:
            at.diverge(number, ended)
            return None
        expected = _expected(at.open_calls(), request)
        if expected.api != request.api:
            at.diverge(number, f"asks {request.api}, not {expected.api}")
            return None
        try:
            body = await asyncio.to_thread(self._body, expected.id)
        except FairtrialError as error:
            at.diverge(number, f"the recorded call cannot be read ({error.what})")
            return None
        different = difference(_json(body.request), _json(request.body))
        if different is None and expected in at.open_calls():
            return expected
        at.diverge(number, different or "the body differs")
        return None


def _expected(calls: Sequence[RecordedCall], request: DescribedRequest) -> RecordedCall:
    """Return the recorded call that a changed one is compared with: the next of its kind."""
    alike = [call for call in calls if call.api == request.api]
    of_model = [call for call in alike if call.model == request.model]
    return [*of_model, *alike, *calls][0]


def _damage(body: CallBody) -> str | None:
    """Return why a stored answer is not the one that was given."""
    if any(name.lower() in (CUT, CODED) for name, _ in body.response_headers):
        return "its recorded answer was not kept whole"
    return None


def _without_waits(call: RecordedCall, body: CallBody) -> CallBody:
    if (call.status or 0) < _FIRST_ERROR:
        return body
    kept = tuple(pair for pair in body.response_headers if pair[0].lower() not in _WAITS)
    return replace(body, response_headers=kept)


def _json(data: bytes) -> Json:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace")
