"""The two harnesses of a comparison, also where only one or none of them is named."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from fairtrial.harness.belonging import pathspecs
from fairtrial.harness.conflicts import refuse_conflicts
from fairtrial.harness.edits import changes
from fairtrial.harness.gathering import Gathered
from fairtrial.harness.git_trees import told_of_git
from fairtrial.harness.sources import NONE, Place, read
from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness
from fairtrial.workspaces.reading_git import Git

_MOST_COMMITS: Final = 200
_MOST_PATHS: Final = 300
_LONGEST_SUBJECT: Final = 60


@dataclass(frozen=True, slots=True)
class Arms:
    """Two harnesses that differ.

    Attributes:
        a: The baseline.
        b: The candidate.
        said: In one line, what was taken for each.
    """

    a: Harness
    b: Harness
    said: str


def default_arms(place: Place, a: str | None, b: str | None) -> Arms:
    """Return the harnesses of A and B, which differ.

    Args:
        place: Where they are read.
        a: What was given for A, as `read_harness` takes it.
        b: What was given for B.

    Raises:
        UsageError: there is no difference, a merge conflict, or no way to tell what is meant.
        NotFoundError: there is no such file or commit.
        FairtrialError: something cannot be read.
    """
    arms = named_arms(place, a, b)
    for harness in (arms.a, arms.b):
        refuse_conflicts(harness)
    if arms.a.digest == arms.b.digest:
        raise UsageError(
            "A and B are the same harness",
            why=arms.said,
            fix="edit AGENTS.md, CLAUDE.md, a rule or a skill, or name what to compare: "
            "--a git:HEAD~1",
        )
    return arms


def named_arms(place: Place, a: str | None, b: str | None) -> Arms:
    """Return the harnesses of A and B; where both are named, they may be the same.

    Without B it is what is not committed yet, and with nothing of that the last commit that
    changed the harness, against the version before it. Without A it is the repository's current
    harness, or the last commit where B is of the current files itself. Files that git ignores and
    agents read all the same, such as CLAUDE.local.md, are in both.

    Raises:
        UsageError: there is nothing to compare, or no way to tell what is meant.
        NotFoundError: there is no such file or commit.
        FairtrialError: something cannot be read.
    """
    if a is None and b is None:
        return _uncommitted(place) or _last_commit(place)
    if a is None and b is not None:
        return _against_current(place, b)
    if a is not None and b is None:
        now = place.current()
        first = read(a, place, base=now)
        return _arms(first, now, f"A is {first.harness.label}, B {now.harness.label}")
    first = read(a or NONE, place)
    second = read(b or NONE, place, base=first)
    return _arms(first, second, f"A is {first.harness.label}, B {second.harness.label}")


def _arms(a: Gathered, b: Gathered, said: str) -> Arms:
    """Return both with the files in them that are in no commit, but would be read beside it."""
    return Arms(_with_private(a, b), _with_private(b, a), said)


def _with_private(one: Gathered, other: Gathered) -> Harness:
    harness = one.harness
    wanted = other.private.difference(harness.files) if one.committed else ()
    more = {path: other.harness.files[path] for path in wanted}
    return replace(harness, files=dict(sorted({**harness.files, **more}.items())))


def _labelled(found: Gathered, label: str) -> Gathered:
    return replace(found, harness=replace(found.harness, label=label))


def _against_current(place: Place, b: str) -> Arms:
    now = place.current()
    second = read(b, place, base=now)
    arms = _arms(now, second, f"A is {now.harness.label}, B {second.harness.label}")
    if arms.a.digest != arms.b.digest or _head(place) is None:
        return arms
    # What was named is how things stand: its edit is seen beside the last commit.
    head = place.at("HEAD", "the last commit")
    second = read(b, place, base=head)
    return _arms(head, second, f"A is the last commit, B {second.harness.label}")


def _uncommitted(place: Place) -> Arms | None:
    now, git = place.current(), place.needed()
    commit = _head(place)
    if commit is None:
        nothing = Harness({}, "none")
        if not now.harness.files:
            raise _no_harness(git)
        edits = _labelled(now, "your files")
        return Arms(nothing, edits.harness, "Nothing is committed yet: A is none, B your files")
    edits = _labelled(now, "your uncommitted edits")
    head = place.at("HEAD", f"the last commit ({commit[:7]})")
    arms = _arms(head, edits, "")
    if arms.a.digest == arms.b.digest:
        return None
    paths = _named(change.path for change in changes(arms.a, arms.b))
    return replace(arms, said=f"A is {head.harness.label}, B {edits.harness.label}: {paths}")


def _last_commit(place: Place) -> Arms:
    """Return the last commit that changed the harness, and the version before it."""
    git = place.needed()
    head = place.at("HEAD")
    imported = list(head.harness.files)[:_MOST_PATHS]
    for commit in _commits(git, imported):
        after = place.at(commit)
        parent = git.commit(f"{commit}^1")
        if parent is None and git.line("rev-parse", "--is-shallow-repository") == "true":
            raise UsageError(
                "the version before the last change of the harness is not in this clone",
                where=str(git.folder),
                why="it is a shallow one",
                fix="get more of the history with git fetch --deepen=50, or name both: --a, --b",
            )
        before = place.at(parent) if parent else Gathered(Harness({}, "none"))
        if before.harness.digest == after.harness.digest:
            continue
        label = f"the last commit that changed the harness ({_title(git, commit)})"
        a = _labelled(before, f"the version before {commit[:7]}")
        b = _labelled(after, label)
        now = place.current()
        said = f"Nothing is uncommitted: B is {label}, A the version before it"
        return Arms(_with_private(a, now), _with_private(b, now), said)
    raise _no_harness(git)


def _commits(git: Git, imported: list[str]) -> list[str]:
    """Return commits that may have changed the harness, the newest first.

    Of a merge, what came with it counts as its own change: the first parent is the version before.
    """
    words = ["log", "--first-parent", f"--max-count={_MOST_COMMITS}", "--format=%H", "HEAD", "--"]
    variables = {"GIT_LITERAL_PATHSPECS": "0"}
    with told_of_git(git):
        printed = git.run(*words, *pathspecs(imported), variables=variables)
    return printed.decode().split()


def _title(git: Git, commit: str) -> str:
    subject = git.line("log", "-1", "--format=%s", commit) or ""
    plain = "".join(letter for letter in subject if letter.isprintable())
    cut = plain if len(plain) <= _LONGEST_SUBJECT else plain[: _LONGEST_SUBJECT - 1] + "…"
    return f"{commit[:7]} {cut}".strip()


def _head(place: Place) -> str | None:
    return None if place.git is None else place.git.commit("HEAD")


def _named(paths: Iterable[str]) -> str:
    listed = list(paths)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more


def _no_harness(git: Git) -> UsageError:
    return UsageError(
        "there is no edit of a harness to compare",
        where=str(git.folder),
        why="no AGENTS.md, CLAUDE.md, rule or skill is here, and none was changed by a commit",
        fix="write one, or name what to compare: --b FILE",
    )
