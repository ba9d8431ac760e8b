"""Which repository holds what a session started from, and where its files lay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from fairtrial.model.session import Session
from fairtrial.workspaces.reading_git import Git
from fairtrial.workspaces.snapshots.git_program import GitError


@dataclass(frozen=True, slots=True)
class Place:
    """Where the commits are, and what the session's paths are relative to.

    Attributes:
        git: The repository.
        worktree: Where the session's own files still are; None when they are gone, or the
            repository was named by the user.
        root: The root as the transcript's paths have it; None is not known.
    """

    git: Git
    worktree: Path | None
    root: PurePath | None


@dataclass(frozen=True, slots=True)
class NoPlace:
    """There is no repository to rebuild it from; `reason` says why, in words."""

    reason: str


def place_of(session: Session, repo: Path | None, environ: Mapping[str, str]) -> Place | NoPlace:
    """Return where to look.

    Args:
        session: The session.
        repo: A clone that the user named in place of the session's own repository.
        environ: The environment that git gets.

    Raises:
        NotFoundError: there is no git.
    """
    root = None if session.repo is None else path_like(session.repo)
    if repo is not None:
        return _named(repo, root, environ)
    if session.cwd is None:
        return NoPlace("the transcript does not tell the folder of the session")
    if isinstance(path_like(session.cwd), PureWindowsPath):
        return NoPlace(f"it was recorded on Windows, in {session.cwd}; name a clone with --repo")
    for folder in dict.fromkeys(found for found in (session.repo, session.cwd) if found):
        if _is_folder(folder):
            return _own(Path(folder), environ)
    if session.commit is not None:
        for around in Path(session.cwd).parents:
            if _is_folder(str(around / ".git")) and Git(around, environ).commit(session.commit):
                return _own(around, environ)
    return NoPlace(f"{session.cwd} is gone; name a clone of its repository with --repo")


def path_like(path: str) -> PurePath:
    """Return a path of the system that a transcript was written on."""
    windows = PureWindowsPath(path)
    return windows if windows.drive else PurePosixPath(path)


def _named(repo: Path, root: PurePath | None, environ: Mapping[str, str]) -> Place | NoPlace:
    git = Git(repo, environ)
    try:
        git.run("rev-parse", "--absolute-git-dir")
    except GitError as error:
        return NoPlace(f"{repo} is no git repository: {error}")
    return Place(git, None, root)


def _own(folder: Path, environ: Mapping[str, str]) -> Place | NoPlace:
    git = Git(folder, environ)
    try:
        bare = git.run("rev-parse", "--is-bare-repository").strip() == b"true"
        if bare:
            return NoPlace(f"{folder} is a bare repository: it holds no files to work on")
        top = os.fsdecode(git.run("rev-parse", "--show-toplevel").removesuffix(b"\n"))
    except GitError as error:
        return NoPlace(f"{folder} is in no git repository: {error}")
    root = Path(top)
    return Place(Git(root, environ), root, PurePosixPath(root))


def _is_folder(path: str) -> bool:
    try:
        return "\0" not in path and Path(path).is_dir()
    except OSError:
        return False
