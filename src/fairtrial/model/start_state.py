"""What a repository held before a session, as far as it can be told, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How sure it is; the first is the best."""

    EXACT = "exact"
    """A snapshot was taken before the agent did anything, by fairtrial or by the agent itself."""
    BASE_EXACT = "base-exact"
    """The transcript names the commit, and nothing contradicts it."""
    GUESSED = "guessed"
    """The commit was found by the time the session began."""
    CONFLICTING = "conflicting"
    """What the transcript tells of files contradicts the commit, or itself."""


class BaseSource(StrEnum):
    """How the commit was found."""

    SNAPSHOT = "snapshot"
    """The snapshot that was taken then names it."""
    AGENT_TREE = "agent-tree"
    """No commit, but a tree of all files that the agent keeps in an object store of its own."""
    RECORDED = "recorded"
    """Its whole hash stands in the transcript."""
    RECORDED_SHORT = "recorded-short"
    """The start of its hash stands in the transcript, and one commit has it."""
    BRANCH_LOG = "branch-reflog"
    """The branch of the session was at it when the session began, by the reflog."""
    HEAD_LOG = "head-reflog"
    """It was checked out when the session began, by the reflog."""
    BY_TIME = "rev-list"
    """It is the newest commit of the branch that is older than the session."""
    NO_COMMIT = "no-commit"
    """There was no commit yet."""


class Evidence(StrEnum):
    """Where the content of a file that differs from the commit comes from."""

    COPY = "copy"
    """The agent's own copy from before its first edit."""
    EDIT = "edit"
    """The whole text that the first edit recorded."""
    READ = "read"
    """The agent read the whole file before it changed it."""
    CREATED = "created"
    """The agent made the file, so it was not there."""
    STATUS = "status"
    """The git status at the start says that it was deleted."""
    REVERSED = "reversed"
    """The file as the session left it, without the changes that it recorded."""
    UNTOUCHED = "untouched"
    """The file as it is now: it was last changed before the session."""


@dataclass(frozen=True, slots=True)
class Base:
    """The commit that was checked out.

    Attributes:
        source: How it was found.
        commit: Its whole hash, or that of a tree; None when there was none yet.
    """

    source: BaseSource
    commit: str | None


@dataclass(frozen=True, slots=True)
class Override:
    """A file that differed from the commit.

    Attributes:
        path: Relative to the root of the repository, with `/`.
        content: Its bytes, or where a symbolic link points to; None: it was not there.
        mode: Git's: `100644`, `100755` or `120000`.
        evidence: Where this comes from.
        event: The event that tells it; None when none does.
    """

    path: str
    content: bytes | None
    mode: str
    evidence: Evidence
    event: int | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """What cannot be told; the files stand as in the commit, or are not there.

    Attributes:
        path: Relative to the root of the repository; a folder ends in `/`; empty is no file in
            particular.
        reason: Why, in words.
        event: The event that makes it so; None when none does.
    """

    path: str
    reason: str
    event: int | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two things that cannot both be true.

    Attributes:
        path: Relative to the root of the repository.
        reason: What contradicts what, in words.
        event: The event that tells of it; None when none does.
    """

    path: str
    reason: str
    event: int | None = None


@dataclass(frozen=True, slots=True)
class StartState:
    """The repository before the agent did anything.

    Attributes:
        grade: How sure it is; None when it cannot be rebuilt at all.
        reasons: Why that grade, or why it cannot be rebuilt; in words, the main one first.
        repo: The repository that holds the commit; None when there is none.
        base: The commit; None when it is not known.
        overrides: Files that differed from it, by path; empty when there is a snapshot, which
            holds them all.
        unknown: What cannot be told.
        conflicts: What contradicts it.
        outside: Paths that the agent changed outside of the repository, as it wrote them; they
            are no part of it.
        snapshot_id: The snapshot that was taken then; None when there is none.
    """

    grade: Grade | None
    reasons: tuple[str, ...]
    repo: str | None = None
    base: Base | None = None
    overrides: tuple[Override, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    outside: tuple[str, ...] = ()
    snapshot_id: str | None = None
