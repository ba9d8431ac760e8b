"""All checks of one eval task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairtrial.model.errors import InfraError, TaskError, Undecidable
from fairtrial.model.isolation import Level, Wanted
from fairtrial.suites.validation.determinism import check_determinism
from fairtrial.suites.validation.findings import Check, Checked, Finding, Validation
from fairtrial.suites.validation.history import check_history
from fairtrial.suites.validation.image_content import image_pieces
from fairtrial.suites.validation.judging import check_judge
from fairtrial.suites.validation.leaks import check_leaks
from fairtrial.suites.validation.lint import check_lint
from fairtrial.suites.validation.near_misses import check_near_misses
from fairtrial.suites.validation.nothing_done import check_nothing_done
from fairtrial.suites.validation.reach import reachable
from fairtrial.suites.validation.reference import try_reference
from fairtrial.suites.validation.tampering import check_tampering
from fairtrial.suites.validation.trying import Tried, Trying
from fairtrial.workspaces.environment import child_environment
from fairtrial.workspaces.snapshots.git_program import GitError

_FIRST = "something else has to be repaired first"
_ORDER = tuple(Check)


@dataclass(frozen=True, slots=True)
class _Place:
    """A task's workspace while it is checked.

    Attributes:
        root: A copy of it on this machine.
        folder: The task's own folder.
        level: What stands between the verifier and the machine.
        environ: The environment that an agent gets.
    """

    root: Path
    folder: str
    level: Level
    environ: Mapping[str, str]


async def validated(trying: Trying, folder: str, seconds: Callable[[], float]) -> Validation:
    """Make all checks of a task.

    Args:
        trying: Tries its verifier.
        folder: The task's folder.
        seconds: A clock that only goes forward.

    Raises:
        UsageError: the level does not work here.
        InfraError: the machine failed, or has not got the image; this says nothing of the task.
        Undecidable: so.
        TaskError: the task cannot be verified at this level.
    """
    began = seconds()
    task, evals = trying.task, trying.evals
    level = trying.level or Level.BWRAP
    if task.verifier.place is not None and level is Level.NONE:
        raise TaskError("its verifier needs its image; leave out --level")
    if trying.level in {None, Level.IMAGE} and await evals.image(task.digest) is not None:
        level = Level.IMAGE
    elif trying.level is Level.IMAGE:
        raise TaskError("it has no image; leave out --level")
    try:
        repo = await evals.prepared(task.digest, {})
    except (InfraError, Undecidable) as error:
        if isinstance(error, InfraError) and error.kind != "setup":
            raise
        checks: list[Checked] = [Checked(Check.WORKSPACE, (Finding(str(error)),))]
    else:
        async with evals.workspace(repo, Wanted(Level.NONE)) as copy:
            environ = child_environment(trying.surroundings.environ, {}, (), "the agent's env")
            # At level none the files lie on this machine.
            place = _Place(Path(copy.path), folder, level, environ)
            checks = [Checked(Check.WORKSPACE), *await _all(trying, place)]
    done = {checked.check: checked for checked in checks}
    whole = tuple(done.get(check) or Checked(check, skipped=_FIRST) for check in _ORDER)
    return Validation(trying.k, level.value, whole, trying.spent.cost_usd, seconds() - began)


async def _all(trying: Trying, place: _Place) -> list[Checked]:
    async with asyncio.TaskGroup() as group:
        nothing = group.create_task(trying.often(b""))
        reference = group.create_task(try_reference(trying))
        misses = group.create_task(check_near_misses(trying))
        leaks = group.create_task(_reading(Check.LEAKS, _leaks(trying, place)))
        history = group.create_task(_reading(Check.HISTORY, _history(trying, place)))
        judge = group.create_task(check_judge(trying))
        idle = check_nothing_done(await nothing)
        tampering = (
            Checked(Check.TAMPERING, skipped=_FIRST)
            if idle.problems
            else await check_tampering(trying, place.root)
        )
    checked, tries = reference.result()
    verified = (("with nothing done", nothing.result()), ("with the reference", tries))
    return [
        idle,
        checked,
        misses.result(),
        leaks.result(),
        history.result(),
        check_determinism(verified),
        tampering,
        judge.result(),
        await asyncio.to_thread(
            check_lint, trying.task, place.root, _flat(nothing.result(), tries)
        ),
    ]


async def _leaks(trying: Trying, place: _Place) -> Checked:
    task, further = trying.task, []
    image = await trying.evals.image(task.digest) if place.level is Level.IMAGE else None
    if image is not None:
        async with trying.gate:
            further = await image_pieces(trying.evals, task, image, place.environ)
    return await asyncio.to_thread(check_leaks, task, place.root, place.environ, further)


async def _history(trying: Trying, place: _Place) -> Checked:
    checked = await asyncio.to_thread(check_history, trying.task, place.root, place.environ)
    if place.level is not Level.BWRAP:
        return checked
    async with trying.gate:
        seen = await reachable(trying.evals, trying.task, place.folder, place.environ)
    if not seen:
        return checked
    return replace(checked, problems=(*checked.problems, *seen), skipped=None)


async def _reading(check: Check, work: Coroutine[Any, Any, Checked]) -> Checked:
    try:
        return await work
    except GitError as error:
        fix = "see what the setup leaves in .git"
        problem = Finding(f"the workspace's repository cannot be read: {error}", fix)
        return Checked(check, (problem,))


def _flat(*several: Sequence[Tried]) -> list[Tried]:
    return [tried for tries in several for tried in tries]
