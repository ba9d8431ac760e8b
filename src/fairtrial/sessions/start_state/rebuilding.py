"""The repository before a session: the snapshot of then, or what its transcript allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

from fairtrial.model.errors import NotFoundError
from fairtrial.model.session import Call, RepoStatus, Session, SessionEvent
from fairtrial.model.snapshot import Moment, Snapshot
from fairtrial.model.start_state import Base, BaseSource, Grade, Override, StartState, Unknown
from fairtrial.sessions.start_state.agent_tree import agent_tree
from fairtrial.sessions.start_state.base_commit import base_of
from fairtrial.sessions.start_state.copies import Copies
from fairtrial.sessions.start_state.deciding import Deciding, Facts, Findings
from fairtrial.sessions.start_state.filters import filtered
from fairtrial.sessions.start_state.paths import Paths, links_of, root_of, spelled
from fairtrial.sessions.start_state.place import NoPlace, Place, place_of
from fairtrial.sessions.start_state.sightings import Sightings, sightings_of
from fairtrial.sessions.start_state.status import Listed, Status, status_of
from fairtrial.sessions.start_state.texts import Texts
from fairtrial.sessions.start_state.untouched import Untouched, differing
from fairtrial.workspaces.reading_git import Entry, Git
from fairtrial.workspaces.snapshots.git_program import GitError

_RECORDED: Final = (BaseSource.RECORDED, BaseSource.RECORDED_SHORT)
_MAKE_LINE_ENDS_PLAIN: Final = ("claude-code",)
_JUMP: Final = timedelta(seconds=5)
_LINK: Final = "120000"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Means:
    """What rebuilding needs beside the session.

    Attributes:
        environ: The environment that git gets.
        clean: Takes secrets out of bytes, as it was done when the transcript was read.
        snapshots: The snapshots that were taken of the session, the first first.
        repo: A clone that the user named in place of the session's own repository.
    """

    environ: Mapping[str, str]
    clean: Callable[[bytes], bytes]
    snapshots: Sequence[Snapshot] = ()
    repo: Path | None = None


def start_state(session: Session, events: Sequence[SessionEvent], means: Means) -> StartState:
    """Return what the repository held before a session.

    Args:
        session: The session.
        events: All its events, in order, with their whole texts.
        means: What is needed beside.
    """
    snapshot = _first_snapshot(means.snapshots, events)
    if snapshot is not None:
        unknown = tuple(
            Unknown(left.path, f"not in the snapshot: {left.reason.value}")
            for left in snapshot.left_out
        )
        return StartState(
            Grade.EXACT,
            ("a snapshot was taken before the agent did anything",),
            repo=snapshot.root,
            base=Base(
                BaseSource.NO_COMMIT if snapshot.head is None else BaseSource.SNAPSHOT,
                snapshot.head,
            ),
            unknown=unknown,
            snapshot_id=snapshot.id,
        )
    place = _kept_or_place(session, means)
    if isinstance(place, StartState):
        return place
    began, jumped = _began(events)
    text = next((event.text for event in events if isinstance(event, RepoStatus)), None)
    status = None if text is None else status_of(text)
    base, reasons = base_of(place.git, session, status, began or session.started_at)
    if jumped:
        reasons.append("the clock jumped while the session went on: its times are not sure")
    repo = str(place.git.folder)
    if base is None:
        return StartState(None, tuple(reasons), repo=repo)
    try:
        tree = place.git.tree(base.commit)
        times = (None, None) if jumped else (began, session.ended_at)
        rebuilding = _Rebuilding(session, place, base, tree, status, times)
        return rebuilding.state(events, means, reasons)
    except GitError as error:
        return StartState(None, (f"git cannot read {base.commit}: {error}",), repo=repo, base=base)


def _kept_or_place(session: Session, means: Means) -> StartState | Place:
    """Return what the agent kept itself, or else where to look, or why there is nothing to see."""
    try:
        kept = agent_tree(session, means.environ)
        place = place_of(session, means.repo, means.environ)
    except NotFoundError as error:  # there is no git
        return StartState(None, (error.what,))
    if kept is not None:
        return StartState(
            Grade.EXACT,
            ("the agent kept all files as they were before its first step",),
            repo=str(kept.folder),
            base=Base(BaseSource.AGENT_TREE, session.start_tree),
        )
    return StartState(None, (place.reason,)) if isinstance(place, NoPlace) else place


def _first_snapshot(
    snapshots: Sequence[Snapshot], events: Sequence[SessionEvent]
) -> Snapshot | None:
    """Return the last snapshot before the agent called a tool for the first time.

    One of a session that was resumed is no snapshot of its start.
    """
    acted = next((event.at for event in events if isinstance(event, Call) and event.at), None)
    found = None
    for snapshot in snapshots:
        if snapshot.moment is not Moment.STOP and (acted is None or snapshot.taken_at <= acted):
            found = snapshot
    return found


def _began(events: Sequence[SessionEvent]) -> tuple[datetime | None, bool]:
    """Return the time of the first event that has one, and whether the clock was set back."""
    threads: dict[str, list[datetime]] = {}
    for event in events:
        if event.at is not None:
            threads.setdefault(event.thread, []).append(event.at)
    jumped = any(
        before - after > _JUMP for times in threads.values() for before, after in pairwise(times)
    )
    return next((event.at for event in events if event.at is not None), None), jumped


class _Rebuilding:
    """One session's rebuilding, from a known commit."""

    def __init__(
        self,
        session: Session,
        place: Place,
        base: Base,
        tree: Mapping[str, Entry],
        status: Status | None,
        times: tuple[datetime | None, datetime | None],
    ) -> None:
        self._session = session
        self._place = place
        self._git: Git = place.git
        self._base = base
        self._tree = tree
        self._status = status
        self._untouched = Untouched(place.worktree, *times)

    def state(self, events: Sequence[SessionEvent], means: Means, reasons: list[str]) -> StartState:
        """Return the state."""
        cwd = self._session.cwd or ""
        sightings = sightings_of(
            events, cwd, Copies(self._session).read, lambda path: spelled(path, cwd)
        )
        paths = self._paths(sightings)
        outside = [
            path for path in (*sightings.files, *sightings.shell) if paths.inside(path) is None
        ]
        findings = self._decided(sightings, paths, means)
        self._add_general(findings)
        conflicts = tuple(findings.conflicts)
        grade = (
            Grade.BASE_EXACT
            if self._base.source in _RECORDED or self._is_told_empty()
            else Grade.GUESSED
        )
        if conflicts:
            grade = Grade.CONFLICTING
            reasons = [f"{conflicts[0].path}: {conflicts[0].reason}", *reasons]
        return StartState(
            grade,
            tuple(reasons),
            repo=str(self._git.folder),
            base=self._base,
            overrides=tuple(self._kept(findings)),
            unknown=tuple(sorted(findings.unknown.values(), key=lambda one: one.path)),
            conflicts=conflicts,
            outside=tuple(dict.fromkeys(outside)),
        )

    def _is_told_empty(self) -> bool:
        status = self._status
        return self._base.commit is None and status is not None and not status.has_commits

    def _paths(self, sightings: Sightings) -> Paths:
        links = (entry.hash for entry in self._tree.values() if entry.mode == _LINK)
        targets = links_of(self._tree, self._git.blobs(links))
        cwd = self._session.cwd
        root = self._place.root
        if root is None and cwd is not None:
            root = root_of(cwd, (*sightings.files, *sightings.shell), self._tree)
        return Paths(root, cwd, self._tree, targets)

    def _decided(self, sightings: Sightings, paths: Paths, means: Means) -> Findings:
        seen = _mapped(sightings.files, paths)
        shell = _mapped(sightings.shell, paths)
        listed = self._listed(paths)
        older = [] if self._status is not None and self._status.is_whole else self._differing()
        wanted = {*seen, *shell, *listed, *older, *self._below(listed)}
        blobs = self._git.blobs(
            entry.hash
            for path in wanted
            if (entry := self._tree.get(path)) is not None and not entry.is_submodule
        )
        facts = Facts(
            tree=self._tree,
            blobs=blobs,
            listed=listed,
            is_whole=self._status is not None and self._status.is_whole,
            changes=_mapped(sightings.changes, paths),
            commands=sightings.commands,
            shell=shell,
            untouched=self._untouched,
            texts=Texts(means.clean),
            raw=self._session.agent not in _MAKE_LINE_ENDS_PLAIN,
        )
        deciding = Deciding(facts)
        for path, sighting in seen.items():
            deciding.seen(path, sighting)
        for path, event in shell.items():
            deciding.by_shell(path, event)
        for path, listing in listed.items():
            deciding.listed(path, listing)
        # What was committed since differs as well, and says nothing of then.
        same = self._base.commit == self._git.commit("HEAD")
        for path in older:
            deciding.differs_now(path, listed=same)
        return deciding.found

    def _below(self, listed: Mapping[str, Listed]) -> list[str]:
        folders = [path for path in listed if path.endswith("/")]
        return [path for folder in folders for path in self._untouched.below(folder)]

    def _listed(self, paths: Paths) -> dict[str, Listed]:
        found: dict[str, Listed] = {}
        for listing in () if self._status is None else self._status.files:
            folder = listing.path.endswith("/")
            path = paths.inside(listing.path)
            if path is not None:
                found[f"{path}/" if folder else path] = listing
        return found

    def _differing(self) -> list[str]:
        if self._place.worktree is None or not self._untouched.can_tell:
            return []
        return differing(self._git, self._base.commit, self._place.worktree)

    def _add_general(self, findings: Findings) -> None:
        if self._status is None:
            reason = "the transcript does not tell which other files had changes not committed"
            findings.doubt("", reason)
        elif not self._status.is_whole:
            findings.doubt("", "git listed more changed files than the transcript tells")
        elif self._git.line("config", "status.showUntrackedFiles") == "no":
            findings.doubt("", "git is set not to list the files that it does not know")
        for path, entry in self._tree.items():
            if entry.is_submodule:
                findings.doubt(
                    f"{path}/", "a submodule: only its commit is known, its files are left out"
                )
        for path, name in filtered(self._git, self._tree).items():
            if path not in findings.overrides:
                findings.doubt(
                    path,
                    f"the filter {name} is not run: it stands as git keeps it (LFS: a pointer)",
                )

    def _kept(self, findings: Findings) -> list[Override]:
        """Return the overrides; a file where a folder must be gives way, and is listed."""
        overrides = findings.overrides
        kept = [overrides[path] for path in sorted(overrides)]
        present = {one.path for one in kept if one.content is not None}
        found: list[Override] = []
        for one in kept:
            parts = one.path.split("/")
            heads = ("/".join(parts[:place]) for place in range(1, len(parts)))
            if one.content is not None and any(head in present for head in heads):
                findings.doubt(one.path, "a file is told of where its folder must be")
                continue
            entry = self._tree.get(one.path)
            found.append(replace(one, mode=entry.mode) if one.content is None and entry else one)
        return found


def _mapped(found: Mapping[str, _T], paths: Paths) -> dict[str, _T]:
    mapped: dict[str, _T] = {}
    for path, what in found.items():
        inside = paths.inside(path)
        if inside is not None:
            mapped.setdefault(inside, what)
    return mapped
