"""A verb that works until it is stopped: what happens is printed as it happens."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.reports.calls import call_json
from fairtrial.app.verbs import Verb
from fairtrial.cli import garbage, streams
from fairtrial.cli.interrupts import stoppable
from fairtrial.cli.render.proxy import call_line, ended_lines, refused_line, started_lines
from fairtrial.model.events import CallRecorded, Event, ProxyStarted, RequestRefused


def served(verb: Verb, bench: Bench, request: Any, *, as_json: bool) -> int:
    """Run a verb that serves and return its exit code.

    What it tells goes to standard output, or to standard error when that belongs to a command.
    """
    commanded = bool(request.command)
    write = streams.tell if commanded else streams.write_text
    printer = _Printer(write, as_json=as_json, quiet=request.quiet, commanded=commanded)
    shown = dataclasses.replace(bench, publish=printer.see)
    try:
        with stoppable(bench.control, "calls", shared=commanded):
            report = verb.function()(shown, request)
    finally:
        shown.close()
    printer.end(report)
    exit_code: int = report.exit_code
    return exit_code


class _Printer:
    """Prints events from whichever thread they come; a reader that left is no reason to stop."""

    def __init__(
        self, write: Callable[[str], None], *, as_json: bool, quiet: bool, commanded: bool
    ) -> None:
        self._write = write
        self._as_json = as_json
        self._quiet = quiet
        self._commanded = commanded
        self._lock = threading.Lock()

    def see(self, event: Event) -> None:
        """Print an event."""
        if isinstance(event, ProxyStarted):
            garbage.resume()
        text = self._json(event) if self._as_json else self._text(event)
        if text:
            self._print(text)

    def end(self, report: Any) -> None:
        """Print what it came to."""
        if self._as_json:
            self._print(json.dumps(report.json(), ensure_ascii=False, allow_nan=False) + "\n")
        elif not (self._quiet and self._commanded and not report.lost):
            self._print(ended_lines(report))

    def _print(self, text: str) -> None:
        with self._lock:
            try:
                self._write(text)
            except (BrokenPipeError, streams.OutputError):
                self._write = _nowhere

    def _text(self, event: Event) -> str:
        match event:
            case ProxyStarted():
                return (
                    "" if self._quiet and self._commanded else started_lines(event, self._commanded)
                )
            case CallRecorded(call) if not self._quiet:
                return call_line(call)
            case RequestRefused():
                return refused_line(event)
        return ""

    def _json(self, event: Event) -> str:
        match event:
            case ProxyStarted():
                told = {"schema": "fairtrial.proxy_started/1", **dataclasses.asdict(event)}
            case CallRecorded(call):
                told = {"schema": "fairtrial.proxy_call/1", "call": call_json(call)}
            case RequestRefused():
                told = {"schema": "fairtrial.proxy_refused/1", **dataclasses.asdict(event)}
            case _:
                return ""
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"


def _nowhere(_text: str) -> None:
    """Take text and do nothing."""
