"""`eval show` as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console

from fairtrial.app.reports.eval_tasks import TaskReport
from fairtrial.cli.render.lines import block, line, section
from fairtrial.cli.render.words import duration, when
from fairtrial.model.eval_task import EvalTask, FolderStart, Verifier
from fairtrial.model.wording import excerpt
from fairtrial.ports.suites import KeptTask

_LONGEST = 4_000
_COMMIT = 12
_STATES = {
    "edited": "edited since it was loaded: fairtrial eval import",
    "gone": "its folder is gone",
    "broken": "its folder cannot be read: fairtrial eval import says why",
}


def render(report: TaskReport, console: Console) -> None:
    """Print all of a task but the content of its files."""
    kept = report.task.kept
    task = kept.task
    line(console, f"{task.suite}/{task.name}: {_status(kept)}", "bold")
    line(console, f"folder: {kept.folder}")
    if report.task.state in _STATES:
        line(console, f"  {_STATES[report.task.state]}", "yellow")
    for text in (*_origin(task), *_start(task), *_verifier(task.verifier), *_patches(task)):
        line(console, text)
    if task.setup is not None:
        line(console, f"setup: {task.setup.line} (at most {duration(task.setup.time_limit_s)})")
    line(console, f"the agent may take {duration(task.agent_limit_s)}")
    if task.tags:
        line(console, f"tags: {', '.join(task.tags)}")
    section(console, "Instruction")
    block(console, excerpt(task.instruction.rstrip("\n"), _LONGEST))


def _status(kept: KeptTask) -> str:
    if kept.validated_at is None:
        return f"{kept.status.value}, not validated as it is now"
    found: Mapping[str, object] = kept.validation or {}
    reason = found.get("reason")
    why = f": {reason}" if isinstance(reason, str) else ""
    return f"{kept.status.value}, {when(kept.validated_at)}{why}"


def _origin(task: EvalTask) -> Iterator[str]:
    if task.origin is not None:
        flags = f": {', '.join(task.origin.flags)}" if task.origin.flags else ""
        yield f"session: {task.origin.session} ({task.origin.agent}){flags}"


def _start(task: EvalTask) -> Iterator[str]:
    start = task.start
    if isinstance(start, FolderStart):
        image = "" if start.image is None else f", image {start.image}"
        if start.dockerfile is not None:
            image = ", which an image is built from"
        yield f"start: {len(start.files):,} files of its folder{image}"
        return
    parts = [
        *([f"snapshot {start.snapshot}"] if start.snapshot else []),
        *([f"commit {start.commit[:_COMMIT]}"] if start.commit and not start.snapshot else []),
        *(["start.patch"] if start.patch else []),
    ]
    yield f"start: {start.grade}, {' and '.join(parts)} of {start.repo}"
    for reason in start.unknown:
        yield f"  not known: {reason}"


def _verifier(verifier: Verifier) -> Iterator[str]:
    if verifier.command is not None:
        limit = duration(verifier.command.time_limit_s)
        yield f"verifier: {verifier.command.line} (at most {limit})"
    else:
        yield "verifier: a judge"
    yield from _named("hidden from the agent", sorted(verifier.hidden))
    yield from _named("protected", verifier.protected)


def _patches(task: EvalTask) -> Iterator[str]:
    yield from _named("near misses", sorted(task.near_misses))
    if task.reference is not None:
        yield "reference: reference.patch"
    elif task.has_reference:
        yield "reference: what solution/solve.sh changes"
    else:
        yield "reference: none, add reference.patch"


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {', '.join(names)}"
