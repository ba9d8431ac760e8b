"""Records the model calls of an experiment's trials, through a proxy in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ulid import ULID

from fairtrial.model.recorded_call import CallOwner, RecordedCall
from fairtrial.model.task import Reused, Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.ports import CallRecorder, CallsMade, Line
from fairtrial.recording.call_log import CallLog
from fairtrial.recording.proxy import RecordingProxy
from fairtrial.recording.replaying import Replay

_PARTS = ("input", "output", "cache_read", "cache_write", "reasoning")
_FIRST_ERROR = 400


class TrialCalls(CallRecorder):
    """Gives every try of a trial an address of its own, and tells what was called there."""

    def __init__(
        self,
        proxy: RecordingProxy,
        log: CallLog,
        experiment_id: str,
        environ: Mapping[str, str],
        replay: Replay | None = None,
    ) -> None:
        """Make one.

        Args:
            proxy: Listens from `open` to `close`.
            log: What the proxy records with; closed with it.
            experiment_id: Whose trials they are.
            environ: Variables that programs need to reach the proxy, beside its address.
            replay: What the proxy serves recorded answers from; None serves none.
        """
        self._proxy = proxy
        self._log = log
        self._experiment_id = experiment_id
        self._environ = environ
        self._replay = replay

    async def open(self) -> None:
        """See `CallRecorder.open`."""
        await self._proxy.start()

    async def begin(self, key: TrialKey) -> Line:
        """See `CallRecorder.begin`."""
        owner = CallOwner(self._experiment_id, key)
        token = self._proxy.assign(owner, f"trial_{ULID()}")
        if self._replay is not None:
            await self._replay.begin(token, key)
        return Line(token, {**self._environ, **self._proxy.environ(token)})

    async def end(self, line: Line) -> CallsMade:
        """See `CallRecorder.end`."""
        calls = await self._proxy.release(line.token)
        live = [call for call in calls if call.api is not None and call.served_from is None]
        note, reused = None, None
        if self._replay is not None:
            note, recorded = self._replay.end(line.token)
            served = {call.served_from for call in calls}
            reused = _reused([call for call in recorded if call.id in served])
        return CallsMade(len(live), _tokens(live), _cost(live), reused, note)

    async def close(self) -> None:
        """See `CallRecorder.close`."""
        try:
            await self._proxy.stop()
        finally:
            await asyncio.to_thread(self._log.close)


def _reused(calls: Sequence[RecordedCall]) -> Reused | None:
    return Reused("recording", len(calls), _tokens(calls), _cost(calls)) if calls else None


def _cost(calls: Sequence[RecordedCall]) -> float | None:
    """Return what calls cost together; None when one is unknown. What got no answer is free."""
    costs = [call.cost_usd for call in calls if not _is_error(call)]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _tokens(calls: Sequence[RecordedCall]) -> Tokens | None:
    """Return what calls read and wrote together; None when that of one is unknown."""
    counted = [call.tokens for call in calls if not _is_error(call)]
    known = [tokens for tokens in counted if tokens is not None]
    if len(known) < len(counted):
        return None
    parts: dict[str, int | None] = {}
    for part in _PARTS:
        counts = [getattr(tokens, part) for tokens in known]
        told = [count for count in counts if count is not None]
        # An API that has no prompt cache says nothing of one.
        parts[part] = sum(told) if told or part in ("input", "output") else None
    return Tokens(**parts)


def _is_error(call: RecordedCall) -> bool:
    return call.status is None or call.status >= _FIRST_ERROR
