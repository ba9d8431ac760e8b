"""A verb that works until it is stopped: what happens is printed as it happens."""

from __future__ import annotations

import dataclasses
import importlib
import json
import threading
from collections.abc import Callable
from typing import Any, Protocol

from fairtrial.app.bench import Bench
from fairtrial.app.verbs import Verb
from fairtrial.cli import garbage, streams
from fairtrial.cli.interrupts import stoppable
from fairtrial.model.events import Event


class Voice(Protocol):
    """What a verb that serves says; `fairtrial.cli.voices` has one of each."""

    @property
    def in_flight(self) -> str:
        """What is waited for when it is stopped, in the plural."""
        ...

    @property
    def shared(self) -> bool:
        """Whether standard output and Ctrl-C belong to a command that it runs."""
        ...

    def starts(self, event: Event) -> bool:
        """Return whether it listens from now on."""
        ...

    def text(self, event: Event) -> str:
        """Return lines about an event; empty when there is nothing to say."""
        ...

    def json(self, event: Event) -> dict[str, Any] | None:
        """Return an event as one object; None when there is nothing to say."""
        ...

    def ended(self, report: Any) -> str:
        """Return what it came to."""
        ...


def served(verb: Verb, bench: Bench, request: Any, *, as_json: bool) -> int:
    """Run a verb that serves and return its exit code.

    What it tells goes to standard output, or to standard error when that belongs to a command.
    """
    voice: Voice = importlib.import_module(f"fairtrial.cli.voices.{verb.module}").Voice(request)
    write = streams.tell if voice.shared else streams.write_text
    printer = _Printer(voice, write, as_json=as_json)
    shown = dataclasses.replace(bench, publish=printer.see)
    try:
        with stoppable(bench.control, voice.in_flight, shared=voice.shared):
            report = verb.function()(shown, request)
    finally:
        shown.close()
    printer.end(report)
    exit_code: int = report.exit_code
    return exit_code


class _Printer:
    """Prints events from whichever thread they come; a reader that left is no reason to stop."""

    def __init__(self, voice: Voice, write: Callable[[str], None], *, as_json: bool) -> None:
        self._voice = voice
        self._write = write
        self._as_json = as_json
        self._lock = threading.Lock()

    def see(self, event: Event) -> None:
        """Print an event."""
        if self._voice.starts(event):
            garbage.resume()
        if self._as_json:
            told = self._voice.json(event)
            text = "" if told is None else _line(told)
        else:
            text = self._voice.text(event)
        self._print(text)

    def end(self, report: Any) -> None:
        """Print what it came to."""
        self._print(_line(report.json()) if self._as_json else self._voice.ended(report))

    def _print(self, text: str) -> None:
        if not text:
            return
        with self._lock:
            try:
                self._write(text)
            except (BrokenPipeError, streams.OutputError):
                self._write = _nowhere


def _line(told: Any) -> str:
    return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"


def _nowhere(_text: str) -> None:
    """Take text and do nothing."""
