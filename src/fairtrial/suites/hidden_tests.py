"""Finding the files of a repository that only a verifier may see."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.suites.folders import HIDDEN_LIMIT, SUITES
from fairtrial.suites.starting import fits
from fairtrial.workspaces.reading_git import Git
from fairtrial.workspaces.snapshots.git_program import GitError

_WHERE: Final = "--hidden-test"


def hidden_tests(
    root: Path, patterns: Sequence[str], environ: Mapping[str, str]
) -> Mapping[str, bytes]:
    """Return the files of a working tree, as they are now, that fit globs, by path.

    Files that git ignores, and those of suites, are none of them.

    Args:
        root: The root of the working tree.
        patterns: Globs; a star matches slashes too.
        environ: The environment that git gets.

    Raises:
        UsageError: a glob fits no file, one is a link, or they are too large.
        NotFoundError: there is no git, or it cannot read the repository.
    """
    if not patterns:
        return {}
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    try:
        known = dict.fromkeys(Git(root, environ).paths(*listing))
    except GitError as error:
        raise NotFoundError("git cannot list the files", where=str(root), why=str(error)) from error
    suites = f"{SUITES}/"
    there = [
        path
        for path in known
        if not path.startswith(suites) and ((root / path).is_file() or (root / path).is_symlink())
    ]
    for pattern in patterns:
        if not any(fits(path, (pattern,)) for path in there):
            raise UsageError(
                f"no file fits {pattern!r}",
                where=_WHERE,
                why=f"it is held against paths below {root}, without the files that git ignores",
                fix="give a path such as tests/test_cart.py, or quote a glob: 'tests/*'",
            )
    return _read(root, [path for path in there if fits(path, patterns)])


def _read(root: Path, paths: Sequence[str]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    size = 0
    for path in paths:
        facts = (root / path).lstat()
        if not stat.S_ISREG(facts.st_mode):
            raise UsageError(f"{path} is a link, and cannot be hidden", where=_WHERE)
        size += facts.st_size
        if size > HIDDEN_LIMIT:
            raise UsageError(
                f"over {HIDDEN_LIMIT:,} bytes of hidden files", where=_WHERE, fix="hide fewer"
            )
        found[path] = (root / path).read_bytes()
    return found
