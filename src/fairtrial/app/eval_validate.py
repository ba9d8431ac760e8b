"""`eval validate`: checks that the verdicts of eval tasks can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairtrial.app.bench import Bench
from fairtrial.app.eval_suites import edited, project_key_of
from fairtrial.app.reports.validation import TaskOutcome, ValidationReport
from fairtrial.app.requests.eval_validate import Request
from fairtrial.model.errors import FairtrialError, InfraError, NotFoundError, UsageError
from fairtrial.model.eval_task import TaskStatus
from fairtrial.model.events import Judged, JudgingStarted
from fairtrial.model.isolation import Level
from fairtrial.ports.suites import KeptTask
from fairtrial.suites.validation.findings import Validation
from fairtrial.suites.validation.running import Listening, Plan, planned_tries, validate_all
from fairtrial.workspaces.host.client import HostWorkspace

_DRAFT, _VALIDATED, _UNCHECKED = "draft", "validated", "unchecked"


def eval_validate(bench: Bench, request: Request) -> ValidationReport:
    """Validate tasks as they were loaded, and keep what that came to.

    A task whose folder was edited since it was loaded is not checked: its outcome would be that of
    files its author does not see.

    Raises:
        UsageError: no task is named, or the level does not work here.
        NotFoundError: there is no such task.
        FairtrialError: no program can be run here.
        StoreError: the store cannot be read or written.
    """
    found: dict[tuple[str, str], TaskOutcome] = {}
    wanted: list[KeptTask] = []
    for kept in _named(bench, request.tasks, request.tag):
        known = _without_check(kept, again=request.again)
        if known is None:
            wanted.append(kept)
        else:
            found[_key(kept)] = known
    if wanted:
        found |= _checked(bench, request, wanted)
    return ValidationReport([found[key] for key in sorted(found)])


def _checked(
    bench: Bench, request: Request, tasks: Sequence[KeptTask]
) -> dict[tuple[str, str], TaskOutcome]:
    found: dict[tuple[str, str], TaskOutcome] = {}

    def done(kept: KeptTask, outcome: Validation | str) -> None:
        found[_key(kept)] = _kept(bench, kept, outcome)

    level = None if request.level is None else Level(request.level)
    plan = Plan(tasks, request.k, level, request.concurrency)
    tries = sum(planned_tries(kept, request.k) for kept in tasks)
    bench.publish(JudgingStarted("eval validate", tries))
    listening = Listening(
        tried=lambda cost: bench.publish(Judged(cost)),
        done=done,
        seconds=bench.clock.monotonic,
    )
    workspace = HostWorkspace(slots=2 * request.concurrency)
    # A kept answer of a judge would make it look as if it said the same each time.
    surroundings = bench.surroundings(bench.cwd, workspace, cache=False)
    try:
        validate_all(plan, surroundings, listening)
    except InfraError as error:
        raise FairtrialError(
            f"nothing can be run here: {error}", fix="see: fairtrial doctor"
        ) from error
    return found


def _named(bench: Bench, refs: Sequence[str], tags: Sequence[str]) -> list[KeptTask]:
    if not refs:
        raise UsageError("no task is named", fix="name tasks or suites: fairtrial eval list")
    project = project_key_of(bench)
    found = {
        _key(kept): kept
        for ref in refs
        for kept in bench.store.suites.find(project, ref.rstrip("/"))
    }
    tagged = [kept for kept in found.values() if not tags or set(tags) & set(kept.task.tags)]
    if not tagged:
        raise NotFoundError(
            f"none of these tasks has the tag {' or '.join(tags)}",
            fix="see the tags of each with: fairtrial eval list",
        )
    return tagged


def _without_check(kept: KeptTask, *, again: bool) -> TaskOutcome | None:
    """Return the outcome of a task that is not checked; None for one that is."""
    trouble = _trouble(kept)
    if trouble is not None:
        return _outcome(kept, _UNCHECKED, trouble)
    if kept.status is TaskStatus.VALIDATED and not again:
        return TaskOutcome(
            kept.task.suite,
            kept.task.name,
            kept.task.digest,
            _VALIDATED,
            None,
            kept.validation,
            earlier=True,
        )
    return None


def _trouble(kept: KeptTask) -> str | None:
    folder = Path(kept.folder)
    load = f"load it with: fairtrial eval import {_short(kept)}"
    if not folder.is_dir():
        return f"its folder {folder} is gone (restore it)"
    try:
        changed = edited(kept)
    except FairtrialError as error:
        return (
            f"its folder does not fit any more: {' '.join(str(error).split())} (repair it, {load})"
        )
    return f"it was edited since it was loaded ({load})" if changed else None


def _short(kept: KeptTask) -> str:
    folder, project = Path(kept.folder), Path(kept.project)
    return str(folder.relative_to(project) if folder.is_relative_to(project) else folder)


def _kept(bench: Bench, kept: KeptTask, outcome: Validation | str) -> TaskOutcome:
    if isinstance(outcome, str):
        return _outcome(kept, _UNCHECKED, f"it could not be checked: {outcome}")
    content = outcome.content()
    bench.store.suites.judge(kept.task.digest, outcome.status, content, bench.clock.now())
    status = _VALIDATED if outcome.status is TaskStatus.VALIDATED else _DRAFT
    return TaskOutcome(
        kept.task.suite, kept.task.name, kept.task.digest, status, outcome.reason, content
    )


def _outcome(kept: KeptTask, status: str, reason: str) -> TaskOutcome:
    return TaskOutcome(kept.task.suite, kept.task.name, kept.task.digest, status, reason, None)


def _key(kept: KeptTask) -> tuple[str, str]:
    return kept.task.suite, kept.task.name
