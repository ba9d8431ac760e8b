"""Asking the user on a terminal."""

from __future__ import annotations

import dataclasses
import signal
import sys
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.verbs import Verb
from fairtrial.cli.output import show

_YES = ("y", "yes")


def asking(verb: Verb, bench: Bench) -> Bench:
    """Return a bench that can ask the user, if there is a terminal for it."""

    def ask(report: Any, question: str) -> bool:
        show(verb, report, as_json=False)
        # What runs trials has made Ctrl-C a request to the run; here it ends the command.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            answer = input(f"{question} [y/N] ")
        except EOFError:
            return False
        finally:
            signal.signal(signal.SIGINT, before)
        return answer.strip().lower() in _YES

    return dataclasses.replace(bench, ask=ask) if _has_terminal() else bench


def _has_terminal() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):  # closed
        return False
