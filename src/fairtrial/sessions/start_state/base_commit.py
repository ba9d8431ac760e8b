"""Which commit was checked out when a session began."""

from __future__ import annotations

from datetime import datetime

from fairtrial.model.session import Session
from fairtrial.model.start_state import Base, BaseSource
from fairtrial.sessions.start_state.status import Status
from fairtrial.workspaces.reading_git import Git
from fairtrial.workspaces.snapshots.git_program import GitError

_FULL = (40, 64)


def base_of(
    git: Git, session: Session, status: Status | None, started: datetime | None
) -> tuple[Base | None, list[str]]:
    """Return the commit, and how it was found or why not, in words.

    Args:
        git: The repository.
        session: The session.
        status: What the agent was told of the repository.
        started: When the session began; None when that is not known for sure.
    """
    reasons: list[str] = []
    if session.commit is not None:
        found = _recorded(git, session.commit, reasons)
        if found is not None:
            return found, reasons
    elif status is not None and not status.has_commits:
        reasons.append("the transcript says that there was no commit yet")
        return Base(BaseSource.NO_COMMIT, None), reasons
    guess = _guessed(git, session, started, reasons)
    return guess, reasons


def _recorded(git: Git, recorded: str, reasons: list[str]) -> Base | None:
    whole = len(recorded) in _FULL
    commit = git.commit(recorded)
    if commit is not None and commit.startswith(recorded):
        said = "the transcript names the commit" if whole else "one commit starts as recorded"
        reasons.append(f"{said}: {commit[:12]}")
        return Base(BaseSource.RECORDED if whole else BaseSource.RECORDED_SHORT, commit)
    if not whole and _is_ambiguous(git, recorded):
        reasons.append(f"several commits start with {recorded}")
    elif git.line("rev-parse", "--is-shallow-repository") == "true":
        reasons.append(
            f"the recorded commit {recorded[:12]} is not in this shallow clone; "
            "`git fetch --unshallow` may bring it"
        )
    else:
        reasons.append(
            f"the recorded commit {recorded[:12]} is not in the repository any more: "
            "rebased away and collected, or this is another repository"
        )
    return None


def _is_ambiguous(git: Git, start: str) -> bool:
    try:
        found = git.run("rev-parse", f"--disambiguate={start}").split()
    except GitError:
        return False
    return len(found) > 1


def _guessed(
    git: Git, session: Session, started: datetime | None, reasons: list[str]
) -> Base | None:
    if not _has_commits(git):
        reasons.append("the repository has no commit")
        return Base(BaseSource.NO_COMMIT, None)
    if started is None:
        reasons.append("it is not known when the session began")
        return None
    at = int(started.timestamp())
    branch = None if session.branch in (None, "HEAD") else f"refs/heads/{session.branch}"
    logs = [(BaseSource.HEAD_LOG, "HEAD")]
    if branch is not None:
        logs.insert(0, (BaseSource.BRANCH_LOG, branch))
    for source, ref in logs:
        commit = _by_log(git, ref, at)
        if commit is not None:
            name = session.branch if source is BaseSource.BRANCH_LOG else "HEAD"
            reasons.append(f"by the reflog {name} was at {commit[:12]} when the session began")
            return Base(source, commit)
    tip = branch if branch is not None and git.commit(branch) else "HEAD"
    commit = git.line("rev-list", "-1", f"--before=@{at}", tip)
    if commit is None:
        reasons.append("no commit of its branch is older than the session")
        return None
    reasons.append(f"{commit[:12]} is the newest commit that is older than the session")
    return Base(BaseSource.BY_TIME, commit)


def _has_commits(git: Git) -> bool:
    return git.commit("HEAD") is not None or git.line("rev-list", "-1", "--all") is not None


def _by_log(git: Git, ref: str, at: int) -> str | None:
    """Return what a reflog says that a ref was at; None when it does not reach back."""
    try:
        printed = git.run(
            "log", "-g", "--no-show-signature", "--format=%H %gd", "--date=unix", ref, "--"
        )
    except GitError:
        return None
    for line in printed.decode(errors="replace").splitlines():
        commit, _, when = line.partition(" ")
        moment = when.rpartition("@{")[2].removesuffix("}")
        if moment.isdigit() and int(moment) <= at:
            return commit
    return None
