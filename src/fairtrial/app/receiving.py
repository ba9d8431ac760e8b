"""Taking in what programs tell by OpenTelemetry, and making sessions of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.crashes import crash_log
from fairtrial.app.session_syncing import redactor, syncer
from fairtrial.model.errors import FairtrialError
from fairtrial.model.events import Noted, SessionsReceived
from fairtrial.model.span import Span
from fairtrial.ports.spans import Received
from fairtrial.sessions.spans.incoming import parts_of
from fairtrial.sessions.spans.reader import MOVED, files_of

_PAUSE_S: Final = 1.0
_PAUSE_TIMES: Final = 5.0
"""How long is waited between two tellings: a second, or so many times what the last one took.

Each reads all of a session, so one that grows must not take all of a processor.
"""


class Receiver:
    """Keeps spans at once, and tells sessions of them in a thread of its own, soon after.

    What was kept and not told when the process died is told by the next one.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._clean: Callable[[bytes], bytes] | None = None
        self._news = threading.Event()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, name="receiver", daemon=True)

    def start(self) -> None:
        """Begin to tell; what an earlier process left first.

        Raises:
            UsageError: the user's rules of secrets cannot be read.
        """
        self._clean = redactor(self._bench).body
        self._news.set()
        self._thread.start()

    def take(self, spans: Sequence[Span]) -> Received:
        """Keep spans and records; when it returns, a crash loses none of them.

        Raises:
            StoreError: the store cannot be written.
        """
        if self._clean is None:
            self._clean = redactor(self._bench).body
        self._bench.store.check()
        received = self._bench.store.spans.add(parts_of(spans, self._clean))
        if received.kept:
            self._news.set()
        return received

    def stop(self) -> None:
        """Tell what is not told yet, and end."""
        self._ends.set()
        self._news.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            ending = self._ends.is_set()
            started = self._bench.clock.monotonic()
            try:
                self.tell()
            except Exception as error:  # noqa: BLE001  # the server goes on; the next news come here again
                self._note(error)
            if ending:
                return
            took = self._bench.clock.monotonic() - started
            self._ends.wait(max(_PAUSE_S, _PAUSE_TIMES * took))

    def tell(self) -> Sequence[str]:
        """Make sessions of what was kept since the last time; return their ids.

        Raises:
            StoreError: the store cannot be read or written.
        """
        store = self._bench.store
        sessions = store.spans.untold()
        if not sessions:
            return ()
        reading = syncer(self._bench, lambda trouble: self._bench.publish(Noted(trouble)))
        told: list[str] = []
        for session, file in zip(sessions, files_of(store.spans, sessions), strict=True):
            try:
                outcome = reading.sync([file], lambda _done, _of: None, anew=True)
            except FairtrialError:
                raise
            except Exception as error:  # noqa: BLE001  # one session must not keep the others back
                self._note(error)
            else:
                told += outcome.sessions
                for trouble in outcome.troubles:
                    if MOVED not in trouble:
                        self._bench.publish(Noted(trouble))
            store.spans.told(session)
        if told:
            self._bench.publish(SessionsReceived(tuple(told)))
        return told

    def _note(self, error: Exception) -> None:
        if isinstance(error, FairtrialError):
            self._bench.publish(Noted(str(error)))
            return
        with suppress(OSError):
            log = crash_log(self._bench.home / "crashes.log", error)
            self._bench.publish(Noted(f"a defect of fairtrial: {error!r}; see {log}"))
