"""What a plan decides of a spec: files are read, and providers and models chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.graders.registry import GRADERS
from fairtrial.model.events import Noted
from fairtrial.model.grader import GraderSpec
from fairtrial.model.task import TaskSpec
from fairtrial.tasks.registry import TASKS


def settled_task(bench: Bench, spec: TaskSpec, folder: Path, where: str) -> TaskSpec:
    """Return a task with all that it leaves open decided, and tell what was.

    Raises:
        UsageError: a file cannot be read, or no provider can be used.
    """
    options, notes = TASKS.settled(spec.kind, spec.options, (folder, bench.environ), where)
    tell(bench, notes)
    return replace(spec, options=options)


def settled_graders(
    bench: Bench, specs: Sequence[GraderSpec], folder: Path, where: str
) -> tuple[GraderSpec, ...]:
    """Return graders with all that they leave open decided, and tell what was.

    Raises:
        UsageError: a file cannot be read, or no provider can be used.
    """
    settled: list[GraderSpec] = []
    told: list[str] = []
    for spec in specs:
        place = (folder, bench.environ)
        options, notes = GRADERS.settled(spec.kind, spec.options, place, where)
        settled.append(replace(spec, options=options))
        told += notes
    tell(bench, told)
    return tuple(settled)


def tell(bench: Bench, notes: Iterable[str]) -> None:
    """Publish what was decided, each line once."""
    for note in dict.fromkeys(notes):
        bench.publish(Noted(note))
