"""A draft of an eval task, made of a session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fairtrial.model.errors import FairtrialError, Undecidable
from fairtrial.model.eval_task import Command, EvalTask, Origin, RepoStart, Verifier
from fairtrial.model.flag import FlagLevel
from fairtrial.model.session import SessionEvent
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.model.start_state import BaseSource, Grade, StartState, Unknown
from fairtrial.ports.sessions import FlaggedSession
from fairtrial.sessions.repositories import git_folder
from fairtrial.sessions.start_state.patching import patch_of
from fairtrial.suites.near_misses import NAME, Ground, NearMiss, left_by, told_by
from fairtrial.suites.prompts import task_name, why_unusable
from fairtrial.suites.starting import Sources, write_files
from fairtrial.workspaces.snapshots.git_program import GitError

_MOST_UNKNOWN: Final = 40


class NotUsable(Exception):  # noqa: N818  # it says what a session is, as `Undecidable` does
    """A session cannot become a task; `str()` says why.

    Attributes:
        conflicting: Whether that is because what it tells contradicts the commit.
    """

    def __init__(self, reason: str, *, conflicting: bool = False) -> None:
        super().__init__(reason)
        self.conflicting = conflicting


@dataclass(frozen=True, slots=True)
class Found:
    """A session with all that is known of it.

    Attributes:
        flagged: The session and its flags.
        events: All its events, in order.
        state: What the repository held before it.
        snapshots: The snapshots that were taken in it, the first first.
    """

    flagged: FlaggedSession
    events: Sequence[SessionEvent]
    state: StartState
    snapshots: Sequence[Snapshot]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the tasks of one command have in common.

    Attributes:
        root: The repository that the suite is written to.
        suite: The suite.
        verifier: What verifies.
        setup: What makes workspaces ready.
        sources: Where content comes from.
        clean: Takes secrets out of bytes.
    """

    root: Path
    suite: str
    verifier: Verifier
    setup: Command | None
    sources: Sources
    clean: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Draft:
    """A task that was made of a session.

    Attributes:
        task: The task.
        notes: What is not in its near miss, or why there is none; a line each.
    """

    task: EvalTask
    notes: tuple[str, ...]


def started(found: Found, wanted: Wanted, instruction: str | None = None) -> EvalTask:
    """Return a session's task without its near miss, and without a name of its own.

    Args:
        found: The session.
        wanted: What the task is to have.
        instruction: What the agent is told; None is the session's first prompt.

    Raises:
        NotUsable: it cannot become a task.
    """
    session = found.flagged.session
    if instruction is None:
        why = why_unusable(session)
        if why is not None:
            raise NotUsable(why)
        instruction = (session.first_prompt or "").strip() + "\n"
    told = wanted.clean(instruction.encode("utf-8", "replace")).decode("utf-8", "replace")
    flags = [one.name for one in found.flagged.flags if one.level is FlagLevel.WARN]
    return EvalTask(
        suite=wanted.suite,
        name="",
        instruction=told,
        start=_start(found, wanted),
        verifier=wanted.verifier,
        setup=wanted.setup,
        tags=tuple(dict.fromkeys(flags)),
        origin=Origin(session.id, session.agent, tuple(dict.fromkeys(flags)), session.ended_at),
    )


def named(task: EvalTask, taken: set[str]) -> EvalTask:
    """Return a task under a name of its own, which is among those that are taken from now on."""
    session = "" if task.origin is None else task.origin.session
    name = task_name(task.instruction, session, taken)
    taken.add(name)
    return replace(task, name=name)


def completed(task: EvalTask, found: Found, wanted: Wanted) -> Draft:
    """Return a task with what its session changed as a near miss; its workspace was made once.

    Raises:
        NotUsable: the workspace cannot be made.
    """
    with tempfile.TemporaryDirectory(prefix="fairtrial-draft-") as name:
        folder = Path(name)
        try:
            (folder / "a").mkdir()
            hidden = _written(task, folder / "a", wanted.sources)
        except (Undecidable, FairtrialError, GitError, OSError) as error:
            raise NotUsable(str(error).replace("\n", " ")) from error
        near = _near_miss(found, Ground(folder, hidden, wanted.sources, wanted.clean))
    if not near.patch:
        none = "the session changed no file" + (" that is not hidden" if hidden else "")
        return Draft(task, near.notes or (none,))
    patch = near.patch.decode("utf-8", "surrogateescape")
    return Draft(replace(task, near_misses={NAME: patch}), near.notes)


def _written(task: EvalTask, folder: Path, sources: Sources) -> Sequence[str]:
    """Write the files of a task's workspace; return what is hidden of them."""
    if not isinstance(task.start, RepoStart):
        raise TypeError(task.start)
    return write_files(task, task.start, folder, sources)


def _near_miss(found: Found, ground: Ground) -> NearMiss:
    last = next((one for one in reversed(found.snapshots) if one.moment is Moment.STOP), None)
    try:
        if last is not None:
            return left_by(last, ground)
    except (FairtrialError, GitError, OSError) as error:
        why = f"the snapshot of its end cannot be read: {error}".replace("\n", " ")
        return NearMiss(b"", (why,))
    session = found.flagged.session
    snapshot = next((one for one in found.snapshots if one.id == found.state.snapshot_id), None)
    root = session.repo if snapshot is None else snapshot.root
    try:
        return told_by(session, found.events, root, ground)
    except (GitError, OSError) as error:
        return NearMiss(b"", (f"what it changed cannot be told: {error}",))


def _start(found: Found, wanted: Wanted) -> RepoStart:
    state = found.state
    if state.grade is None or state.repo is None:
        why = "; ".join(state.reasons[:2])
        raise NotUsable(f"what it began with cannot be rebuilt: {why}")
    if state.grade is Grade.CONFLICTING:
        why = "; ".join(f"{one.path}: {one.reason}" for one in state.conflicts[:2])
        raise NotUsable(
            f"what it tells of its files contradicts the commit: {why}", conflicting=True
        )
    base = state.base
    unknown = [*state.unknown, *_elsewhere(found)]
    if base is not None and base.source is BaseSource.AGENT_TREE:
        where = f"its files are kept by {found.flagged.session.agent} alone, in {state.repo}"
        unknown.append(Unknown("", f"{where}: without them the task cannot be run"))
    patch = ""
    if state.snapshot_id is None:
        state, secrets = _without_secrets(state, wanted.clean)
        unknown += secrets
        try:
            data = patch_of(state, wanted.sources.environ)
        except FairtrialError as error:
            raise NotUsable(str(error).replace("\n", " ")) from error
        patch = data.decode("utf-8", "surrogateescape")
    commit = None if base is None else base.commit
    if commit is None and state.snapshot_id is None and not patch:
        raise NotUsable("it began with an empty repository")
    return RepoStart(
        repo=_repo(state, wanted.root),
        commit=commit,
        snapshot=state.snapshot_id,
        patch=patch,
        grade=Grade.EXACT.value if state.grade is None else state.grade.value,
        unknown=_lines(unknown),
    )


def _repo(state: StartState, root: Path) -> str:
    """Return where the commit is: in the repository itself rather than in a worktree of it."""
    repo = state.repo or str(root)
    own = git_folder(repo)
    return str(root) if own is not None and own == git_folder(str(root)) else repo


def _elsewhere(found: Found) -> list[Unknown]:
    """Return that a session worked in a folder below, since agents of trials start at the root."""
    session = found.flagged.session
    if session.cwd is None or session.repo is None or session.cwd == session.repo:
        return []
    try:
        below = Path(session.cwd).relative_to(session.repo).as_posix()
    except ValueError:
        return []
    return [Unknown("", f"the session began in the folder {below}; the agent begins at the root")]


def _without_secrets(
    state: StartState, clean: Callable[[bytes], bytes]
) -> tuple[StartState, list[Unknown]]:
    kept, told = [], []
    for one in state.overrides:
        content = None if one.content is None else clean(one.content)
        if content != one.content:
            told.append(Unknown(one.path, "a secret was taken out of it"))
        kept.append(replace(one, content=content))
    return replace(state, overrides=tuple(kept)), told


def _lines(unknown: Sequence[Unknown]) -> tuple[str, ...]:
    lines = [f"{one.path}: {one.reason}" if one.path else one.reason for one in unknown]
    if len(lines) > _MOST_UNKNOWN:
        left = len(lines) - _MOST_UNKNOWN
        lines = [*lines[:_MOST_UNKNOWN], f"and {left:,} more files"]
    return tuple(line.encode("utf-8", "backslashreplace").decode() for line in lines)
