"""Harnesses as a user names them: FILE, DIR, git:REV, a saved bundle, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.harness.belonging import part_of
from fairtrial.harness.bundle import is_bundle, read_bundle
from fairtrial.harness.gathering import Gathered, gathered, text_of
from fairtrial.harness.git_trees import WorkTree, commit_tree, git_at, told_of_git
from fairtrial.harness.trees import LONGEST, FolderTree
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.harness import Harness
from fairtrial.workspaces.reading_git import Git

NONE: Final = "none"
GIT: Final = "git:"
FORMS: Final = "give a FILE, a DIR, git:REV, a file of `fairtrial harness save`, or none"
_LONGEST_BUNDLE: Final = 64 << 20


@dataclass(frozen=True)
class Place:
    """Where harnesses are read. What was read once is not read again.

    Attributes:
        folder: Where relative paths start, and whose repository is meant.
        environ: The environment of this process.
    """

    folder: Path
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    _commits: dict[str, Gathered] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def git(self) -> Git | None:
        """Git in the root of the working tree around the folder; None when there is none."""
        return git_at(self.folder, self.environ)

    @property
    def root(self) -> Path | None:
        """The root of the working tree around the folder."""
        return None if self.git is None else self.git.folder

    def current(self) -> Gathered:
        """Return the harness of the working tree as it was at the first look.

        Raises:
            UsageError: there is no repository, or the harness is too large.
            FairtrialError: a file cannot be read.
        """
        return self._current

    @cached_property
    def _current(self) -> Gathered:
        git = self.needed()
        label = f"the current files of {git.folder.name}"
        with told_of_git(git):
            found = gathered(WorkTree(git), label, str(git.folder))
            _refuse_unmerged(git, found.harness)
        return found

    def at(self, revision: str, label: str | None = None) -> Gathered:
        """Return the harness of a commit.

        Raises:
            UsageError: there is no repository, or the name is none of a commit.
            NotFoundError: there is no such commit.
            FairtrialError: git fails, or has not the content of a file.
        """
        git = self.needed(f"{GIT}{revision}")
        if not revision or ":" in revision:
            raise UsageError(
                f"{GIT}{revision} names no commit" + (", but a path in one" if revision else ""),
                fix=f"give {GIT}REV, such as {GIT}HEAD~1 or {GIT}main; its whole harness is read",
            )
        with told_of_git(git):
            tree = commit_tree(git, revision)
            found = self._commits.get(tree.commit)
            if found is None:
                found = gathered(tree, "", f"{git.folder} at {tree.commit[:12]}")
                self._commits[tree.commit] = found
        harness = replace(found.harness, label=label or f"{GIT}{revision}")
        return replace(found, harness=harness, committed=True)

    def needed(self, what: str = "the repository's current files") -> Git:
        """Return git in the root of the working tree.

        Args:
            what: What it is needed for, for the error message.

        Raises:
            UsageError: there is no repository around the folder.
        """
        if self.git is None:
            raise UsageError(
                f"{what} cannot be read: there is no git repository around {self.folder}",
                fix="go into the repository, or give both harnesses as files, folders or bundles",
            )
        return self.git


def read_harness(given: str, place: Place, *, base: Harness | None = None) -> Harness:
    """Return a harness by what a user gave.

    Args:
        given: FILE, DIR, `git:REV`, a saved bundle, or `none`. A folder is taken whole, as the root
            of a repository. A file takes the place of the file of the same path in `base`; one that
            is not there, or says the same, takes that of its name: at the root, or else where the
            most of its path is the same.
        place: Where relative paths start, and whose repository `git:REV` is of.
        base: What a file is put into (default: the repository's current harness).

    Raises:
        UsageError: it is none of these, too large, or of another repository.
        NotFoundError: there is no such file or commit.
        FairtrialError: it cannot be read.
    """
    return read(given, place, base=None if base is None else Gathered(base)).harness


def read(given: str, place: Place, *, base: Gathered | None = None) -> Gathered:
    """Return a harness as `read_harness` does, with what is known of where it comes from."""
    if not given.strip():
        raise UsageError("the name of a harness is empty", fix=FORMS)
    if given == NONE:
        return Gathered(Harness({}, NONE))
    if given.startswith(GIT):
        return place.at(given.removeprefix(GIT))
    try:
        path = place.folder / Path(given).expanduser()
        folder, there = path.is_dir(), path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{given!r} cannot be looked for: {error}", fix=FORMS) from None
    if folder:
        return _of_folder(given, path, place)
    if not there:
        raise NotFoundError(f"there is no {given}", where=str(place.folder), fix=FORMS)
    text = _text(given, path)
    if is_bundle(text):
        harness = replace(read_bundle(text, given), label=f"the bundle {path.name}")
        _refuse_foreign(harness, place, given)
        return Gathered(harness)
    into = base if base is not None else place.current()
    return replace(into, harness=_with_file(into.harness, given, path, text, place))


def _of_folder(given: str, path: Path, place: Place) -> Gathered:
    git = git_at(path, place.environ)
    if git is None or not _same(git.folder, path):
        found = gathered(FolderTree(path), f"the folder {given}", given)
        if not found.harness.files:
            raise UsageError(
                f"nothing in {given} belongs to a harness",
                fix="it must hold AGENTS.md, CLAUDE.md or the like, as at the root of a repository",
            )
        return found
    if place.root is not None and _same(git.folder, place.root):
        return place.current()
    with told_of_git(git):
        found = gathered(WorkTree(git), f"the current files of {given}", given)
        _refuse_unmerged(git, found.harness)
    return found


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _text(given: str, path: Path) -> str:
    if not path.is_file():
        raise UsageError(f"{given} is no file and no folder", fix=FORMS)
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
            if is_bundle(data[:300].decode("utf-8", "replace")):
                data += file.read(_LONGEST_BUNDLE)
    except OSError as error:
        raise UsageError(f"{given} cannot be read: {error.strerror}") from None
    text, _ = text_of(data)
    if text is None:
        raise UsageError(f"{given} is no text", fix=FORMS)
    if len(data) > LONGEST and not is_bundle(text):
        raise UsageError(f"{given} has over {LONGEST:,} bytes")
    return text


def _with_file(base: Harness, given: str, path: Path, text: str, place: Place) -> Harness:
    at = _place_of(base, given, path, text, place)
    target = base.links.get(at, at)
    # What is a link to the file is the file.
    places = {at, target} | {link for link, to in base.links.items() if to == target}
    changed = {one: text for one in places if one in base.files or one == at}
    files = dict(sorted({**base.files, **changed}.items()))
    return replace(base, files=files, label=f"{given} in {base.label}")


def _place_of(base: Harness, given: str, path: Path, text: str, place: Place) -> str:
    """Return the path of the file that a file takes the place of."""
    own = _inside(path, place.root)
    if own is not None and base.files.get(own, text) != text:
        return own
    parts = PurePosixPath(path.absolute().as_posix()).parts
    alike: dict[int, list[str]] = {}
    for known in base.files:
        if known != own:
            alike.setdefault(_common_end(PurePosixPath(known).parts, parts), []).append(known)
    best = alike[max(alike)] if alike and max(alike) > 0 else []
    if path.name in best:
        return path.name
    if len(best) == 1:
        return best[0]
    if best:
        raise UsageError(
            f"{given} may stand for {', '.join(sorted(best)[:5])}",
            fix="put it at its path in a copy of the repository, and give that file or folder",
        )
    for new in (own, path.name):
        if new is not None and part_of(new):
            return new
    raise UsageError(
        f"no file of the harness is called {path.name}, and no agent would read it",
        where=given,
        fix=f"give it the name of the file it is a version of, or {FORMS.removeprefix('give ')}",
    )


def _inside(path: Path, root: Path | None) -> str | None:
    if root is None:
        return None
    # A link is itself, not what it leads to.
    place = Path(os.path.realpath(path.parent)) / path.name
    top = Path(os.path.realpath(root))
    return place.relative_to(top).as_posix() if place.is_relative_to(top) else None


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count


def _refuse_foreign(bundle: Harness, place: Place, given: str) -> None:
    """Refuse a bundle whose paths have nothing in common with the repository."""
    if place.git is None or not bundle.files:
        return
    known = set(place.current().harness.files)
    if place.git.commit("HEAD"):
        known |= set(place.at("HEAD").harness.files)
    if known:
        fits = not known.isdisjoint(bundle.files)
    else:
        tops = {PurePosixPath(path).parts[0] for path in bundle.files}
        folder = place.git.folder
        fits = any(top in bundle.files or (folder / top).exists() for top in tops)
    if not fits:
        raise UsageError(
            f"the bundle is of another repository: {place.git.folder.name} has none of its files",
            where=given,
            why=f"it has {', '.join(list(bundle.files)[:3])}",
            fix="save one here with fairtrial harness save, or give a folder with its files at "
            "their paths in this repository",
        )


def _refuse_unmerged(git: Git, harness: Harness) -> None:
    """Refuse what git is in the middle of merging."""
    unmerged = {line.partition("\t")[2] for line in git.paths("ls-files", "-z", "--unmerged")}
    for path in sorted(unmerged.intersection(harness.files)):
        raise UsageError(
            f"{path} has a merge conflict",
            where=str(git.folder),
            fix=f"settle it, git add {path}, and try again",
        )
