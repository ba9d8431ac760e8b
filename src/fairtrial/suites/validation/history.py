"""The agent gets no commit but those up to the start, and no way to others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from fairtrial.model.eval_task import EvalTask, RepoStart
from fairtrial.suites.validation.findings import Check, Checked, Finding, as_word
from fairtrial.suites.validation.visible_content import GitHere, git_at, repositories
from fairtrial.workspaces.snapshots.git_program import GitError

_OWN: Final = b"fairtrial@localhost"
"""Who commits what fairtrial writes into a workspace."""
_MARKS: Final = {
    "logs": "a reflog",
    "FETCH_HEAD": "what was fetched last",
    "ORIG_HEAD": "where it was before",
    "MERGE_HEAD": "a merge that is under way",
    "CHERRY_PICK_HEAD": "a commit that is being picked",
    "REBASE_HEAD": "a rebase that is under way",
    "worktrees": "other working trees",
    "objects/info/alternates": "objects of another repository",
    "objects/info/http-alternates": "objects of another repository",
    "info/grafts": "grafts",
    "shallow": None,
}
"""What of a git folder leads to other commits."""
_KINDS: Final = {
    "refs/tags/": "the tag",
    "refs/remotes/": "the remote branch",
    "refs/notes/": "the notes",
    "refs/stash": "the stash",
    "refs/heads/": "the branch",
}
_FIX: Final = "let the setup not bring it, e.g. with: rm -rf .git/{name}"


def check_history(task: EvalTask, root: Path, environ: Mapping[str, str]) -> Checked:
    """Look at every repository of a workspace for what was committed after the start.

    In the workspace's own, only HEAD's branch may be there, with commits that lead to it. Of
    other repositories in it, only commits of the same history count.

    Args:
        task: The task.
        root: A copy of its workspace, as the agent finds it.
        environ: The environment that git gets.

    Raises:
        GitError: a repository cannot be read.
    """
    problems: list[Finding] = []
    for path in sorted(root.rglob(".git")):
        if path.is_file() or path.is_symlink():
            told = path.relative_to(root).as_posix()
            problems.append(
                Finding(f"{told} leads to a repository elsewhere", "let the setup remove it")
            )
    found = repositories(root)
    own = root / ".git"
    commits = 0
    for folder in found:
        git = git_at(folder, environ)
        if folder == own:
            commits = len(_commits(git))
            problems += [*_marks(folder), *_refs(git), *_remotes(git), *_unreachable(git)]
        elif isinstance(task.start, RepoStart) and _has(git, task.start.commit):
            told = folder.relative_to(root).as_posix()
            problems.append(
                Finding(f"{told} is a copy of the repository", "let the setup remove it")
            )
    if not found and not problems:
        return Checked(Check.HISTORY, skipped="the workspace has no repository")
    facts = {"repositories": len(found), "commits": commits}
    return Checked(Check.HISTORY, tuple(problems), facts=facts)


def _marks(folder: Path) -> Iterator[Finding]:
    for name, what in _MARKS.items():
        path = folder / name
        holds = path.is_file() or (path.is_dir() and any(p.is_file() for p in path.rglob("*")))
        if what is not None and holds:
            yield Finding(f".git/{name} is there: {what}", _FIX.format(name=name))


def _refs(git: GitHere) -> Iterator[Finding]:
    """Yield the refs beside the branch that is checked out; packed ones are among them."""
    try:
        head = git(["symbolic-ref", "-q", "HEAD"]).decode(errors="replace").strip()
    except GitError:
        head = ""  # detached
    reached = set(_reached(git))
    listed = git(["for-each-ref", "--format=%(objectname) %(refname)"]).decode(errors="replace")
    for told in listed.splitlines():
        commit, line = told.split(" ", 1)
        earlier = line.startswith("refs/heads/") and commit in reached
        if line != head and not earlier:
            kind = next(
                (told for start, told in _KINDS.items() if line.startswith(start)), "the ref"
            )
            name = line.split("/", 2)[-1]
            yield Finding(f"{kind} {name} is there", "let the setup delete it")


def _remotes(git: GitHere) -> Iterator[Finding]:
    names = git(["remote"]).decode(errors="replace").split()
    if names:
        yield Finding(
            f"the remote {names[0]} is there", f"let the setup: git remote remove {names[0]}"
        )


def _unreachable(git: GitHere) -> Iterator[Finding]:
    """Yield the commits and tags that HEAD does not lead to, if there are any."""
    reached = set(_reached(git))
    others = [name for name in _commits(git) if name not in reached and not _is_own(git, name)]
    if others:
        yield Finding(
            f"{as_word(len(others), 'commit')} that HEAD does not lead to can be read from .git: "
            f"{others[0][:12]}",
            "let the setup run: git reflog expire --expire=now --all && git gc --prune=now",
        )


def _is_own(git: GitHere, name: str) -> bool:
    return _OWN in git(["cat-file", "-p", name]).partition(b"\n\n")[0]


def _commits(git: GitHere) -> list[str]:
    listed = git(["cat-file", "--batch-all-objects", "--unordered", "--batch-check"])
    words = (line.split() for line in listed.decode().splitlines())
    return [name for name, kind, _ in words if kind in ("commit", "tag")]


def _reached(git: GitHere) -> list[str]:
    try:
        return git(["rev-list", "HEAD"]).decode().split()
    except GitError:
        return []  # no commit yet


def _has(git: GitHere, commit: str | None) -> bool:
    if commit is None:
        return False
    try:
        git(["cat-file", "-e", commit])
    except GitError:
        return False
    return True
