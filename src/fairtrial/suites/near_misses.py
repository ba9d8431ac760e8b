"""What a session changed, as a patch on the workspace that its task begins with."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Final

from fairtrial.model.session import Session, SessionEvent
from fairtrial.model.snapshot import Snapshot
from fairtrial.model.start_state import Evidence, Override
from fairtrial.sessions.edits import edited
from fairtrial.sessions.start_state.laying_out import put_all
from fairtrial.sessions.start_state.patching import compared
from fairtrial.sessions.start_state.paths import Paths, root_of, spelled
from fairtrial.sessions.start_state.place import path_like
from fairtrial.sessions.start_state.sightings import sightings_of
from fairtrial.suites.starting import Sources, fits, hide, suites_in
from fairtrial.workspaces.reading_git import Entry
from fairtrial.workspaces.snapshots.git_program import Git, GitError

NAME: Final = "session"
"""What the near miss that is a session's own change is called."""

_LARGEST: Final = 16 * 1024 * 1024
_LARGEST_FILE: Final = 32 * 1024 * 1024
_LONGEST_S: Final = 300.0
_MOST_NAMED: Final = 5
_PLAIN, _EXECUTABLE = "100644", "100755"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """What a session changed.

    Attributes:
        patch: The patch; empty when it changed nothing, or when that cannot be told.
        notes: What is not in it and why, or why there is none; a line each.
    """

    patch: bytes
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """What a patch is made on.

    Attributes:
        folder: A folder with the workspace in its folder `a`, as the agent finds it, and nothing
            else.
        hidden: Paths and globs of files that are not in it.
        sources: Where the content of snapshots comes from.
        clean: Takes secrets out of bytes.
    """

    folder: Path
    hidden: Sequence[str]
    sources: Sources
    clean: Callable[[bytes], bytes]

    @property
    def started(self) -> Path:
        """The workspace."""
        return self.folder / "a"


def left_by(snapshot: Snapshot, ground: Ground) -> NearMiss:
    """Return what leads from the workspace to a snapshot that was taken after the session.

    Raises:
        FairtrialError: the snapshot is not there any more, or cannot be read.
        GitError: git failed.
    """
    after = ground.folder / "b"
    ground.sources.snapshots.restore(snapshot, after)
    # The session may have made a suite.
    hidden = (*ground.hidden, *suites_in(after, ground.sources.environ))
    hide(after, hidden, ground.sources.environ)
    return _checked(compared(ground.folder, ground.sources.environ), (), ground)


def told_by(
    session: Session, events: Sequence[SessionEvent], root: str | None, ground: Ground
) -> NearMiss:
    """Return what the edits that a transcript tells of make of the workspace.

    Args:
        session: The session.
        events: All its events, in order.
        root: The root of its repository, as its paths have it; None is not known.
        ground: The workspace.

    Raises:
        GitError: git failed.
    """
    cwd = session.cwd or ""
    seen = sightings_of(events, cwd, lambda _: None, lambda path: spelled(path, cwd))
    if root is None:
        known = dict.fromkeys(_files(ground.started), Entry(_PLAIN, ""))
        paths = Paths(root_of(cwd, (*seen.files, *seen.shell), known), cwd, {}, {})
    else:
        paths = Paths(path_like(root), cwd, {}, {})

    def inside(path: str) -> str | None:
        found = paths.inside(path)
        return None if found is None or fits(found, ground.hidden) else found

    done = edited(events, inside, lambda path: _read(ground.started, path))
    notes = [f"{path}: {reason}" for path, reason in sorted(done.unknown.items())]
    shell = sorted({path for one in seen.shell if (path := inside(one)) is not None})
    if shell:
        named = ", ".join(shell[:_MOST_NAMED]) + (", …" if len(shell) > _MOST_NAMED else "")
        notes.append(f"changed by commands too, which are not done again: {named}")
    if not done.files:
        return NearMiss(b"", tuple(notes))
    patch = _between(ground.started, done.files, ground.sources.environ)
    return _checked(patch, tuple(notes), ground)


def _between(started: Path, files: Mapping[str, bytes | None], environ: Mapping[str, str]) -> bytes:
    """Return the patch that makes files what they are to be."""
    before, after = [], []
    for path, data in files.items():
        was = _read(started, path)
        mode = _mode(started / path)
        if was is not None:
            before.append(Override(path, was, mode, Evidence.EDIT))
        if data is not None:
            after.append(Override(path, data, mode, Evidence.EDIT))
    with tempfile.TemporaryDirectory(prefix="fairtrial-") as name:
        scratch = Path(name)
        for side, overrides in (("a", before), ("b", after)):
            (scratch / side).mkdir()
            put_all(scratch / side, overrides)
        return compared(scratch, environ)


def _checked(patch: bytes, notes: tuple[str, ...], ground: Ground) -> NearMiss:
    """Return a patch without secrets that applies to the workspace, or why there is none."""
    if len(patch) > _LARGEST:
        return NearMiss(b"", (*notes, f"what it changed is over {_LARGEST:,} bytes"))
    if not patch:
        return NearMiss(b"", notes)
    told = without_secrets(patch, ground.clean)
    if told is None:
        return NearMiss(b"", (*notes, "what it changed holds a secret that cannot be taken out"))
    git = Git(ground.sources.environ, lambda: _LONGEST_S)
    words = ["apply", "--check", "--whitespace=nowarn", "-"]
    try:
        git.run(words, cwd=ground.started, stdin=told)
    except GitError as error:
        return NearMiss(b"", (*notes, f"what it changed does not apply to its start: {error}"))
    if told != patch:
        notes = (*notes, "a secret that it wrote was taken out")
    return NearMiss(told, notes)


def without_secrets(patch: bytes, clean: Callable[[bytes], bytes]) -> bytes | None:
    """Return a patch without secrets in the lines that it adds.

    Those that it removes or leaves stand in the workspace anyway. None when one reaches over
    lines, or there would be more or fewer of them.
    """
    found: list[bytes] = []
    for adds, group in groupby(patch.split(b"\n"), _adds):
        lines = list(group)
        if not adds:
            found += lines
            continue
        plain = b"\n".join(line[1:] for line in lines)
        cleaned = clean(plain).split(b"\n")
        if len(cleaned) != len(lines):
            return None
        found += [b"+" + line for line in cleaned]
    return b"\n".join(found)


def _adds(line: bytes) -> bool:
    return line.startswith(b"+") and not line.startswith((b"+++ b/", b'+++ "b/', b"+++ /dev/null"))


def _read(folder: Path, path: str) -> bytes | None:
    """Return a file of a workspace; None when there is none, or a link leads to it."""
    place = folder
    for part in path.split("/"):
        place /= part
        if place.is_symlink():
            return None
    try:
        facts = place.stat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST_FILE:
            return None
        return place.read_bytes()
    except (OSError, ValueError):
        return None


def _mode(path: Path) -> str:
    try:
        return _EXECUTABLE if path.stat().st_mode & stat.S_IXUSR else _PLAIN
    except (OSError, ValueError):
        return _PLAIN


def _files(folder: Path) -> Iterator[str]:
    return (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
