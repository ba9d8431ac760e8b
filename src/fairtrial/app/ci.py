"""What a CI tells a job of itself: its commit, branch and pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairtrial.model.errors import UsageError

ENVIRONMENTS: Final = ("dev", "staging", "prod", "ci")
_NO: Final = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class _Variables:
    """What one CI calls its variables; where there are several the first that is set counts.

    Attributes:
        marks: One of them is set wherever this CI runs a job; the others are no other CI's, either.
        commit: The commit.
        branch: The branch; where a pull request is built, the one that it comes from.
        pull_request: The pull or merge request, as a number or an address.
        tag: Set where a tag is built, which has no branch.
    """

    marks: tuple[str, ...]
    commit: tuple[str, ...]
    branch: tuple[str, ...] = ()
    pull_request: tuple[str, ...] = ()
    tag: str = ""


_TOLD: Final = (
    _Variables(  # and Gitea and Forgejo, which call them the same
        ("GITHUB_ACTIONS", "GITHUB_SHA"),
        ("GITHUB_SHA",),
        ("GITHUB_HEAD_REF", "GITHUB_REF", "GITHUB_REF_NAME"),
        ("GITHUB_REF",),
    ),
    _Variables(
        ("GITLAB_CI",),
        ("CI_COMMIT_SHA",),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"),
        ("CI_MERGE_REQUEST_IID", "CI_EXTERNAL_PULL_REQUEST_IID"),
        "CI_COMMIT_TAG",
    ),
    _Variables(
        ("BUILDKITE", "BUILDKITE_COMMIT"),
        ("BUILDKITE_COMMIT",),
        ("BUILDKITE_BRANCH",),
        ("BUILDKITE_PULL_REQUEST",),
        "BUILDKITE_TAG",
    ),
    _Variables(
        ("CIRCLECI", "CIRCLE_SHA1"),
        ("CIRCLE_SHA1",),
        ("CIRCLE_BRANCH",),
        ("CIRCLE_PULL_REQUEST", "CIRCLE_PR_NUMBER"),
        "CIRCLE_TAG",
    ),
    _Variables(
        ("TF_BUILD",),  # Azure Pipelines
        ("BUILD_SOURCEVERSION",),
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
        ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "SYSTEM_PULLREQUEST_PULLREQUESTID"),
    ),
    _Variables(
        ("JENKINS_URL",),
        ("GIT_COMMIT",),
        ("CHANGE_BRANCH", "BRANCH_NAME", "GIT_LOCAL_BRANCH", "GIT_BRANCH"),
        ("CHANGE_ID",),
        "TAG_NAME",
    ),
    _Variables(
        ("BITBUCKET_BUILD_NUMBER", "BITBUCKET_COMMIT"),
        ("BITBUCKET_COMMIT",),
        ("BITBUCKET_BRANCH",),
        ("BITBUCKET_PR_ID",),
        "BITBUCKET_TAG",
    ),
    _Variables(
        ("TRAVIS", "TRAVIS_COMMIT"),
        ("TRAVIS_COMMIT",),
        ("TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"),
        ("TRAVIS_PULL_REQUEST",),
        "TRAVIS_TAG",
    ),
    _Variables(
        ("DRONE",),
        ("DRONE_COMMIT_SHA",),
        ("DRONE_SOURCE_BRANCH", "DRONE_BRANCH"),
        ("DRONE_PULL_REQUEST",),
        "DRONE_TAG",
    ),
    _Variables(
        ("APPVEYOR",),
        ("APPVEYOR_PULL_REQUEST_HEAD_COMMIT", "APPVEYOR_REPO_COMMIT"),
        ("APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH", "APPVEYOR_REPO_BRANCH"),
        ("APPVEYOR_PULL_REQUEST_NUMBER",),
        "APPVEYOR_REPO_TAG_NAME",
    ),
    _Variables(
        ("SEMAPHORE",),
        ("SEMAPHORE_GIT_SHA",),
        ("SEMAPHORE_GIT_PR_BRANCH", "SEMAPHORE_GIT_WORKING_BRANCH", "SEMAPHORE_GIT_BRANCH"),
        ("SEMAPHORE_GIT_PR_NUMBER",),
        "SEMAPHORE_GIT_TAG_NAME",
    ),
    _Variables(
        ("CODEBUILD_BUILD_ID",),
        ("CODEBUILD_RESOLVED_SOURCE_VERSION",),
        ("CODEBUILD_WEBHOOK_HEAD_REF",),
        ("CODEBUILD_WEBHOOK_TRIGGER",),
    ),
    _Variables(("TEAMCITY_VERSION",), ("BUILD_VCS_NUMBER",)),
    _Variables(  # Woodpecker, whose only mark is the value of CI
        ("CI_WORKFLOW_NAME", "CI_COMMIT_SHA"),
        ("CI_COMMIT_SHA",),
        ("CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME"),
        ("CI_COMMIT_PULL_REQUEST",),
        "CI_COMMIT_TAG",
    ),
)


@dataclass(frozen=True, slots=True)
class Ci:
    """What is known of the job that runs; None is unknown.

    Attributes:
        commit: The commit it runs for.
        branch: The branch; None for a tag.
        pull_request: The number of the pull or merge request.
    """

    commit: str | None = None
    branch: str | None = None
    pull_request: str | None = None


def ci_here(environ: Mapping[str, str]) -> Ci | None:
    """Return what the CI says; None where none runs this."""
    for one in _TOLD:
        if any(_is_set(environ, mark) for mark in one.marks):
            return Ci(
                _first(environ, one.commit),
                None if environ.get(one.tag) else _branch(_first(environ, one.branch)),
                _pull_request(_first(environ, one.pull_request)),
            )
    return Ci() if _is_set(environ, "CI") else None


def environment_here(environ: Mapping[str, str]) -> str:
    """Return where experiments run: as told, else `ci` on a CI, else `dev`.

    Raises:
        UsageError: FAIRTRIAL_ENVIRONMENT is none of the four.
    """
    given = environ.get("FAIRTRIAL_ENVIRONMENT")
    if not given:
        return "dev" if ci_here(environ) is None else "ci"
    if given not in ENVIRONMENTS:
        raise UsageError(
            f"{given[:60]!r} is no environment",
            where="FAIRTRIAL_ENVIRONMENT",
            fix=f"set it to one of {', '.join(ENVIRONMENTS)}",
        )
    return given


def _is_set(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() not in _NO


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((environ[name] for name in names if environ.get(name)), None)


def _branch(told: str | None) -> str | None:
    """Return the branch in `fix`, `refs/heads/fix` or `origin/fix`; no other ref has one."""
    if told is None or told.startswith(("refs/tags/", "refs/pull/", "refs/merge-requests/")):
        return None
    return told.removeprefix("refs/heads/").removeprefix("origin/")


def _pull_request(told: str | None) -> str | None:
    """Return the number in `7`, `refs/pull/7/merge`, `pr/7` or `https://…/pull/7`."""
    found = re.fullmatch(
        r"(?:refs/pull/|pr/|https?://.*/(?:pull|pulls|pull-requests|merge_requests)/)?"
        r"(\d+)(?:/(?:merge|head))?",
        told or "",
    )
    return found[1] if found else None
