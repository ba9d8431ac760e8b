"""A line on a terminal or below a notebook's cell that says how an experiment stands."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from fairtrial.analysis.progress import Progress
from fairtrial.app.ci import ci_here
from fairtrial.model.events import Event, Noted, RunEnded

_EVERY_S = 0.1


def is_wanted(environ: Mapping[str, str], *, given: bool | None) -> bool:
    """Return whether to show progress: as given, else where a person looks, and not on a CI."""
    if given is not None:
        return given
    if ci_here(environ) is not None or sys.stderr is None:
        return False
    # A notebook's stream is no terminal, and its cell takes lines that are rewritten all the same.
    return sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel.")


@dataclass
class ProgressLine:
    """Takes the events of a run and rewrites one line of standard error."""

    _progress: Progress = field(default_factory=Progress)
    _shown_at: float = 0.0
    _width: int = 0

    def see(self, event: Event) -> None:
        """Take the next event."""
        self._progress.see(event)
        if isinstance(event, Noted):
            self._write("")
            sys.stderr.write(f"{_harmless(event.text)}\n")
        elif isinstance(event, RunEnded):
            self._write("")
        elif time.monotonic() - self._shown_at >= _EVERY_S:
            self._shown_at = time.monotonic()
            self._write(self._text())

    def _text(self) -> str:
        progress = self._progress
        text = f"{_harmless(progress.name)}  {progress.done:,} of {progress.planned:,} trials"
        rate = progress.pass_rate()
        return text if rate is None else f"{text}, {100 * rate[0]:.1f} % passed"

    def _write(self, text: str) -> None:
        if not text and not self._width:
            return
        padded = text.ljust(self._width)
        sys.stderr.write(f"\r{padded}" if text else f"\r{padded}\r")
        sys.stderr.flush()
        self._width = len(text)


def _harmless(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:200]
