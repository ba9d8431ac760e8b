"""How a run is asked to stop, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Control:
    """Asks a run to drain or to cancel; the run reads it and never stops by itself otherwise.

    *Drain*: no new trial starts, those in flight are finished. *Cancel*: those in flight are
    ended too, and leave no record. *Stop* is a drain that a rule of the run itself asks for.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drain_reason: str | None = None
        self._cancelled = False
        self._by_rule = False
        self._listeners: list[Callable[[], None]] = []

    @property
    def drain_reason(self) -> str | None:
        """Why no new trial starts; None while they do."""
        return self._drain_reason

    @property
    def cancelled(self) -> bool:
        """Whether the trials in flight are to be ended too."""
        return self._cancelled

    @property
    def by_rule(self) -> bool:
        """Whether a rule asked first."""
        return self._by_rule

    def stop(self, reason: str) -> None:
        """Let no new trial start, because a rule says so. The first reason stays."""
        with self._lock:
            if self._drain_reason is not None:
                return
            self._drain_reason = reason
            self._by_rule = True
        self._notify()

    def drain(self, reason: str) -> None:
        """Let no new trial start. The first reason stays."""
        with self._lock:
            self._drain_reason = self._drain_reason or reason
        self._notify()

    def cancel(self, reason: str) -> None:
        """End the trials in flight too."""
        with self._lock:
            self._drain_reason = self._drain_reason or reason
            self._cancelled = True
        self._notify()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change, in the thread that made it."""
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        """Call it no more: one control may stop several runs, one after the other."""
        self._listeners.remove(listener)

    def _notify(self) -> None:
        for listener in tuple(self._listeners):
            listener()
