"""A snapshot: what a repository held at one moment of a session, byte for byte."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Moment(StrEnum):
    """When in a session a snapshot was taken."""

    START = "start"
    """Before the first turn, or when the session was resumed."""
    PROMPT = "prompt"
    """Before a later turn; the user may have worked meanwhile."""
    STOP = "stop"
    """After a turn, or at the end of the session."""


class LeftOutReason(StrEnum):
    """Why something of a working tree is not in a snapshot."""

    IGNORED = "ignored"
    """Files that git ignores are never in it; `path` is empty, `files` unknown."""
    SUBMODULE = "submodule"
    """A repository of its own: its commit is kept, its files are not."""
    LFS = "lfs"
    """Unchanged files whose content git LFS keeps: their pointers are kept."""
    LARGE = "large"
    """An untracked file larger than the limit, or beyond the limit of all together."""
    UNREADABLE = "unreadable"
    """It could not be read."""
    SPECIAL = "special"
    """A socket, a pipe or a device."""
    CONFLICT = "conflict"
    """The index holds both sides of a conflict, so that there is no tree of it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that a snapshot does not hold.

    Attributes:
        reason: Why.
        path: Relative to the root of the repository; empty when it stands for many files.
        files: How many files; None is unknown.
        bytes: How large they are; None is unknown.
    """

    reason: LeftOutReason
    path: str = ""
    files: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot without its content, which lies in an object store of fairtrial's own.

    Attributes:
        id: `snap_` and a ULID; later ones sort behind earlier ones.
        agent: As in `Session`.
        native_id: What the agent calls the session.
        moment: When in the session.
        taken_at: When (UTC).
        root: Root of the working tree, absolute.
        repository: What the objects of all snapshots of one repository are kept under; the
            worktrees of a repository share it.
        head: The commit that was checked out, in full; None when there was none yet.
        branch: The branch; None when the head was detached.
        index_tree: The tree of the index; None while it held conflicts.
        worktree_tree: The tree of the files as they lay on the disk, no filter applied, untracked
            ones too. A file that no filter changes has the same blob as in the repository.
        commit: The commit in the object store that holds these trees. Its tree is
            `worktree_tree`; the tree of its first parent, `index_tree`, or that of `head` when
            there is none; its parent, that of `head`. They are no commits of the user's.
        left_out: What is not in it and why.
    """

    id: str
    agent: str
    native_id: str
    moment: Moment
    taken_at: datetime
    root: str
    repository: str
    head: str | None
    branch: str | None
    index_tree: str | None
    worktree_tree: str
    commit: str
    left_out: tuple[LeftOut, ...] = ()
