"""Reading results as `push` does, up to what is found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.interchange.results.contract import Asked, FoundRun, FoundTrial, Notes
from fairtrial.interchange.results.recognising import recognise


@dataclass(frozen=True)
class Found:
    """What was read."""

    tool: str
    trials: list[FoundTrial]
    run: FoundRun
    notes: dict[str, int]

    def of(self, case: str) -> FoundTrial:
        """Return the only trial of a case."""
        (trial,) = [trial for trial in self.trials if trial.id == case]
        return trial

    def cause(self, case: str) -> str | None:
        """Return who is to blame for the only trial of a case."""
        trouble = self.of(case).trouble
        return None if trouble is None else trouble.cause


def read(path: Path, asked: Asked | None = None) -> Found:
    """Return what a file or folder holds."""
    (recognised,) = recognise(path, asked or Asked())
    notes = Notes()
    reading = recognised.read(asked or Asked(), notes)
    trials = list(reading.trials())
    run = reading.run()
    return Found(recognised.tool, trials, run, {note.what: note.count for note in notes.all()})
