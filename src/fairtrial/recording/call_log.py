"""Where calls go to be described and stored: a queue, one thread, batches."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fairtrial.model.errors import FairtrialError, StoreError
from fairtrial.model.recorded_call import CallBody, CallOwner, RecordedCall
from fairtrial.ports import CallStore
from fairtrial.recording.describing import Describer
from fairtrial.recording.exchange import DescribedRequest, Exchange

WINDOW_S = 0.05
"""Seconds in which calls gather: the proxy's own thread is left alone meanwhile."""
LARGEST_BATCH = 256


def ignore_call(_call: RecordedCall) -> None:
    """Take a call and do nothing."""


@dataclass(slots=True)
class _Flush:
    done: threading.Event


@dataclass(slots=True)
class _Owned:
    owner: CallOwner
    session: str | None
    numbers: Iterator[int]
    calls: list[RecordedCall]


class CallLog:
    """Describes and stores exchanges on a thread of its own, in the order that they were put.

    An exchange is put twice: when its request is whole, and when it is over. So a long request is
    read while the model thinks, and gets its number by when it was made.
    """

    def __init__(
        self,
        store: CallStore,
        describer: Describer,
        run_session: str,
        recorded: Callable[[RecordedCall], None] = ignore_call,
    ) -> None:
        """Start the thread.

        Args:
            store: Where calls are kept.
            describer: Describes them.
            run_session: The session of calls whose client names none.
            recorded: Takes each call once it is stored, on the thread.
        """
        self._store = store
        self._describer = describer
        self._run_session = run_session
        self._recorded = recorded
        self._queue: queue.SimpleQueue[Exchange | _Flush | None] = queue.SimpleQueue()
        self._hurry = threading.Event()
        self._lock = threading.Lock()
        self._owned: dict[str, _Owned] = {}
        self._numbers: dict[str, Iterator[int]] = {}
        self._failure: FairtrialError | None = None
        self.lost = 0
        """How many calls could not be stored."""
        self._thread = threading.Thread(target=self._run, name="call-log", daemon=True)
        self._thread.start()

    def put(self, exchange: Exchange) -> None:
        """Take an exchange; returns at once."""
        self._queue.put(exchange)

    def describe(self, exchange: Exchange) -> DescribedRequest:
        """Describe a request now, on the thread of the caller."""
        return self._describer.request(exchange)

    def flush(self) -> None:
        """Wait until everything that was put is stored.

        Raises:
            StoreError: something could not be stored since the last flush.
        """
        marker = _Flush(threading.Event())
        self._hurry.set()
        self._queue.put(marker)
        marker.done.wait()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Store everything that was put and end the thread; `lost` tells what could not be."""
        if self._thread.is_alive():
            self._hurry.set()
            self._queue.put(None)
            self._thread.join()

    def own(self, token: str, owner: CallOwner, session: str | None = None) -> None:
        """Let the calls that come with a token belong to a trial.

        Args:
            token: The token.
            owner: The trial.
            session: The session of its calls whose client names none; None is that of all others.
        """
        with self._lock:
            self._owned[token] = _Owned(owner, session, itertools.count(1), [])

    def disown(self, token: str) -> Sequence[RecordedCall]:
        """Forget a token; return its calls that are stored, in the order they were made."""
        with self._lock:
            owned = self._owned.pop(token, None)
        return [] if owned is None else sorted(owned.calls, key=lambda call: call.number)

    def _run(self) -> None:
        going = True
        while going:
            batch = [self._queue.get()]
            if batch[0] is not None:
                self._hurry.wait(WINDOW_S)
            while len(batch) < LARGEST_BATCH:
                try:
                    batch.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            going = None not in batch
            self._take([item for item in batch if item is not None])
            if self._queue.empty():
                self._hurry.clear()

    def _take(self, batch: Sequence[Exchange | _Flush]) -> None:
        calls: list[tuple[RecordedCall, CallBody, str | None]] = []
        for item in batch:
            if isinstance(item, _Flush):
                self._keep(calls)
                calls = []
                item.done.set()
                continue
            try:
                described = self._described(item)
            except Exception as error:  # noqa: BLE001  # one call that cannot be read takes no other with it
                self._lose(1, StoreError(f"a call could not be described: {error!r}"))
                continue
            if described is not None:
                calls.append((*described, item.token))
        self._keep(calls)

    def _described(self, exchange: Exchange) -> tuple[RecordedCall, CallBody] | None:
        if exchange.described is None:
            exchange.described = self._describer.request(exchange)
        if exchange.place is None:
            exchange.place = self._place(exchange, exchange.described)
            exchange.request.chunks = []
        if exchange.ended is None or exchange.recorded:
            return None
        exchange.recorded = True
        owned = self._owned.get(exchange.token) if exchange.token else None
        return self._describer.call(exchange, owned.owner if owned else None)

    def _place(self, exchange: Exchange, request: DescribedRequest) -> tuple[str, int]:
        owned = self._owned.get(exchange.token) if exchange.token else None
        own_session = None if owned is None else owned.session
        session = request.session or own_session or self._run_session
        if owned is not None:
            return session, next(owned.numbers)
        numbers = self._numbers.get(session)
        if numbers is None:
            numbers = self._numbers[session] = itertools.count(self._store.next_number(session))
        return session, next(numbers)

    def _keep(self, calls: Sequence[tuple[RecordedCall, CallBody, str | None]]) -> None:
        if not calls:
            return
        try:
            self._store.add([(call, body) for call, body, _ in calls])
        except FairtrialError as error:
            self._lose(len(calls), error)
            return
        for call, _, token in calls:
            owned = self._owned.get(token) if token else None
            if owned is not None:
                owned.calls.append(call)
            self._recorded(call)

    def _lose(self, count: int, error: FairtrialError) -> None:
        self.lost += count
        self._failure = self._failure or error
