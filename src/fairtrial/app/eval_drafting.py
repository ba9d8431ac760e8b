"""Making eval tasks of sessions: what `eval init` and `eval new` share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fairtrial.app.baselines import project_of
from fairtrial.app.bench import Bench
from fairtrial.app.drafting_options import Checking
from fairtrial.app.reports.eval_drafts import DraftedTask
from fairtrial.app.session_starts import start_of
from fairtrial.app.session_syncing import redactor
from fairtrial.model.errors import FairtrialError, NotFoundError, RefusedError, UsageError
from fairtrial.model.eval_task import Command, EvalTask, RepoStart, Verifier
from fairtrial.model.json import Json
from fairtrial.model.session import Relation
from fairtrial.ports.sessions import FlaggedSession
from fairtrial.sessions.repositories import git_folder
from fairtrial.suites.drafting import Draft, Found, NotUsable, Wanted, completed, started
from fairtrial.suites.folders import TASKS, read_task, suite_folder, task_folders
from fairtrial.suites.hidden_tests import hidden_tests
from fairtrial.suites.starting import Sources
from fairtrial.suites.task_values import glob_trouble
from fairtrial.suites.writing import write_suite_readme, write_task
from fairtrial.workspaces.snapshots.files import GitSnapshotFiles

_VERIFIER_LIMIT_S = 600.0
_SETUP_LIMIT_S = 600.0


def repository_of(bench: Bench, given: Path | None) -> Path:
    """Return the root of the repository that a suite is written to.

    Raises:
        NotFoundError: there is none around the folder, or it has no working tree.
    """
    start = bench.cwd if given is None else bench.path(given)
    root = project_of(start)
    if not (root / ".git").exists():
        raise NotFoundError(
            f"{start} is in no git repository with a working tree",
            where=None if given is None else "--repo",
            fix="change to the repository that the sessions are of, or name it with --repo",
        )
    return root


def wanted_of(bench: Bench, root: Path, checking: Checking) -> Wanted:
    """Return what the tasks of a command have in common.

    Raises:
        UsageError: the verifier or the setup is empty, a glob fits no file, or the suite cannot be
            called so.
    """
    for flag, line in (("--verifier", checking.verifier), ("--setup", checking.setup)):
        if line is not None and not line.strip():
            raise UsageError(f"{flag} is empty", fix="give a command, such as 'npm test'")
    for glob in checking.protected:
        trouble = glob_trouble(glob)
        if trouble is not None:
            raise UsageError(f"{glob!r} {trouble}", where="--protected")
    suite_folder(root, checking.suite)
    hidden = hidden_tests(root, checking.hidden_tests, bench.environ)
    command = Command(checking.verifier, _VERIFIER_LIMIT_S)
    files = GitSnapshotFiles(bench.home, bench.environ)
    return Wanted(
        root=root,
        suite=checking.suite,
        verifier=Verifier(command, None, hidden, checking.hidden_tests, checking.protected),
        setup=None if checking.setup is None else Command(checking.setup, _SETUP_LIMIT_S),
        sources=Sources(bench.environ, bench.store.snapshots.find, files),
        clean=redactor(bench).body,
    )


@dataclass
class Drafting:
    """Makes and keeps the tasks of one suite.

    Attributes:
        bench: The workbench.
        wanted: What the tasks have in common.
        taken: The names of the tasks that are there, in lower case.
    """

    bench: Bench
    wanted: Wanted
    taken: set[str] = field(default_factory=set)
    _by_session: dict[str, str] = field(default_factory=dict)
    _by_start: dict[Json, str] = field(default_factory=dict)

    def look(self) -> None:
        """Take note of the tasks that are there; those that were never loaded are loaded.

        Raises:
            StoreError: the store cannot be written.
        """
        root = self.wanted.root
        folder = suite_folder(root, self.wanted.suite)
        if (folder / TASKS).is_dir():
            self.taken |= {path.name.casefold() for path in (folder / TASKS).iterdir()}
        suites = self.bench.store.suites
        kept = {one.task.name for one in suites.tasks(str(root), self.wanted.suite)}
        for place in task_folders(folder):
            try:
                task = read_task(place, root)
            except (FairtrialError, OSError):
                continue  # half edited: `eval import` says what does not fit
            self.remember(task)
            if task.name not in kept:
                suites.load(task, str(root), str(place), self.bench.clock.now())

    def remember(self, task: EvalTask) -> None:
        """Take note of a task, so that none is made of the same session or the same start."""
        self.taken.add(task.name.casefold())
        if task.origin is not None:
            self._by_session.setdefault(task.origin.session, task.name)
        self._by_start.setdefault(self._ground(task), task.name)

    def of_session(self, session_id: str) -> str | None:
        """Return the name of the task that was made of a session; None when none was."""
        return self._by_session.get(session_id)

    def begin(
        self, flagged: FlaggedSession, instruction: str | None = None
    ) -> tuple[EvalTask, Found]:
        """Return a session's task without name and near miss, and what it was made of.

        Raises:
            NotUsable: it cannot become one.
        """
        session = flagged.session
        store = self.bench.store
        try:
            events = store.sessions.events(session.id)
            state = start_of(self.bench, session, events)
            if state.grade is None and _has_gone(session.repo or session.cwd):
                state = start_of(self.bench, session, events, self.wanted.root)
            snapshots = store.snapshots.of_session(session.agent, session.native_id)
        except FairtrialError as error:
            raise NotUsable(str(error).replace("\n", " ")) from error
        found = Found(flagged, events, state, snapshots)
        return started(found, self.wanted, instruction), found

    def same_as(self, task: EvalTask) -> str | None:
        """Return the name of a task with the same instruction and start, if there is one."""
        return self._by_start.get(self._ground(task))

    def complete(self, task: EvalTask, found: Found) -> Draft:
        """Return a named task with its near miss.

        Raises:
            NotUsable: its workspace cannot be made.
        """
        draft = completed(task, found, self.wanted)
        self.remember(draft.task)
        return draft

    def keep(self, draft: Draft) -> DraftedTask:
        """Write the folder of a task and load it.

        Raises:
            UsageError: the folder is there, or cannot be written.
            StoreError: the store cannot be written.
        """
        root, task = self.wanted.root, draft.task
        suite = suite_folder(root, task.suite)
        folder = suite / TASKS / task.name
        try:
            suite.mkdir(parents=True, exist_ok=True)
            write_suite_readme(suite)
            write_task(task, folder, root)
        except FileExistsError as error:
            raise UsageError(
                f"there is a task {task.suite}/{task.name}",
                where=str(error.filename or folder),
                fix="take another --name",
            ) from None
        except OSError as error:
            raise UsageError(
                f"the task {task.name} cannot be written: {error.strerror or error}",
                where=str(error.filename or folder),
            ) from error
        loaded = read_task(folder, root)
        self.bench.store.suites.load(loaded, str(root), str(folder), self.bench.clock.now())
        return DraftedTask(loaded, folder, draft.notes)

    def _ground(self, task: EvalTask) -> Json:
        start = task.start
        told = " ".join(task.instruction.split()).casefold()
        if isinstance(start, RepoStart) and start.snapshot is not None:
            try:
                snapshot = self.bench.store.snapshots.find(start.snapshot)
            except FairtrialError:
                return f"{told}\0{start.snapshot}"
            return f"{told}\0{snapshot.head} {snapshot.index_tree} {snapshot.worktree_tree}"
        return f"{told}\0{start.content()}"


def sessions_of(
    sessions: Iterator[FlaggedSession], root: Path, home: Path
) -> Iterator[FlaggedSession]:
    """Yield the sessions of a repository, be it of another worktree of it, but no subagents'.

    Args:
        sessions: All sessions.
        root: The root of the repository.
        home: Folder of the store: sessions in it are of trials, wherever it lies.
    """
    own = git_folder(str(root))
    known: dict[str, bool] = {}
    for found in sessions:
        session = found.session
        place = session.repo or session.cwd
        if place is None or session.relation is Relation.SUBAGENT or _is_below(session.cwd, home):
            continue
        if place not in known:
            known[place] = git_folder(place) == own
        if known[place]:
            yield found


def refused(session: str, why: NotUsable) -> FairtrialError:
    """Return the error of a session that a user named and that cannot become a task."""
    kind = RefusedError if why.conflicting else UsageError
    return kind(
        f"{session} cannot become an eval task",
        why=str(why),
        fix=f"read it with: fairtrial sessions show {session}",
    )


def _is_below(place: str | None, folder: Path) -> bool:
    return place is not None and Path(place).is_relative_to(folder)


def _has_gone(place: str | None) -> bool:
    return place is not None and "\0" not in place and not Path(place).exists()
