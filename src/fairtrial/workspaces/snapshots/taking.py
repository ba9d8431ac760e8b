"""Taking a snapshot: the index, and the files as they lie on the disk, as trees of git."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fairtrial.model.snapshot import LeftOut, LeftOutReason
from fairtrial.workspaces.snapshots.git_program import Git
from fairtrial.workspaces.snapshots.private_folder import RAW, private_folder
from fairtrial.workspaces.snapshots.repository import Repository
from fairtrial.workspaces.snapshots.working_tree import Limits, Work, look

_AUTHOR = {
    "GIT_AUTHOR_NAME": "fairtrial",
    "GIT_AUTHOR_EMAIL": "fairtrial@localhost",
    "GIT_AUTHOR_DATE": "@0 +0000",
    "GIT_COMMITTER_NAME": "fairtrial",
    "GIT_COMMITTER_EMAIL": "fairtrial@localhost",
    "GIT_COMMITTER_DATE": "@0 +0000",
}


@dataclass(frozen=True, slots=True)
class Trees:
    """What was taken.

    Attributes:
        index: The tree of the index; None while it holds conflicts.
        files: The tree of the files.
        commit: What holds them; the same trees have the same commit.
        left_out: What is not in it.
    """

    index: str | None
    files: str
    commit: str
    left_out: tuple[LeftOut, ...] = field(default=())


def take(
    git: Git,
    repository: Repository,
    objects: Path,
    environ: Mapping[str, str],
    limits: Limits,
) -> Trees:
    """Write what a repository holds now as objects into a folder of fairtrial's.

    Nothing of the user's is written: not the index, no object, no reference.

    Args:
        git: Git.
        repository: The user's.
        objects: Where objects that the user's repository has not got are put.
        environ: The environment of this process.
        limits: How much is taken of what git does not know.

    Raises:
        GitError: git failed or took too long.
        OSError: a file could not be written.
    """
    with private_folder(repository, objects, environ) as (folder, variables):
        work = look(git, repository, variables, environ, limits)
        (folder / "info" / "attributes").write_text(RAW)
        writing = _not_seeing_the_users_objects(repository, variables)
        index = None if work.conflicts else _write_tree(git, repository, writing)
        if work.conflicts:
            work.left_out.append(LeftOut(LeftOutReason.CONFLICT))
        _update(git, repository, writing, work)
        files = _write_tree(git, repository, writing)
        commit = _commits(git, variables, (repository.head_tree, index, files))
    work.left_out.append(LeftOut(LeftOutReason.IGNORED))
    return Trees(index, files, commit, tuple(work.left_out))


def _not_seeing_the_users_objects(
    repository: Repository, variables: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables for what writes objects.

    Git would set the time of an object that is there already instead of writing it again, and
    that would be one of the user's.
    """
    if repository.settings.get("sparsecheckout", "false") == "true":
        return dict(variables)  # the folders of a sparse index have to be looked up
    return {
        name: value
        for name, value in variables.items()
        if name != "GIT_ALTERNATE_OBJECT_DIRECTORIES"
    }


def _update(git: Git, repository: Repository, variables: Mapping[str, str], work: Work) -> None:
    """Bring the copy of the index to what lies on the disk."""
    for words, paths in ((("--force-remove",), work.drop), (("--add", "--remove"), work.read)):
        if paths:
            git.run(
                ["update-index", *words, "--replace", "-z", "--stdin"],
                cwd=repository.root,
                env=variables,
                stdin=b"".join(path + b"\0" for path in paths),
            )


def _write_tree(git: Git, repository: Repository, variables: Mapping[str, str]) -> str:
    answer = git.run(["write-tree", "--missing-ok"], cwd=repository.root, env=variables)
    return answer.out.decode().strip()


def _commits(git: Git, variables: Mapping[str, str], trees: tuple[str | None, ...]) -> str:
    """Chain commits of trees; a tree that is None takes none."""
    parent: list[str] = []
    given = {**variables, **_AUTHOR}
    for name, tree in zip(("head", "index", "files"), trees, strict=True):
        if tree is not None:
            words = ["commit-tree", tree, *parent, "-m", name]
            answer = git.run(words, cwd=Path(os.sep), env=given)
            parent = ["-p", answer.out.decode().strip()]
    return parent[1]
