"""What a CI tells a job of itself: its commit, branch and pull request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fairtrial.model.errors import UsageError

ENVIRONMENTS: Final = ("dev", "staging", "prod", "ci")

_TOLD: Final = (
    (
        "GITHUB_ACTIONS",
        "GITHUB_SHA",
        ("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
        "GITHUB_REF",
    ),
    (
        "GITLAB_CI",
        "CI_COMMIT_SHA",
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"),
        "CI_MERGE_REQUEST_IID",
    ),
    ("BUILDKITE", "BUILDKITE_COMMIT", ("BUILDKITE_BRANCH",), "BUILDKITE_PULL_REQUEST"),
    ("CIRCLECI", "CIRCLE_SHA1", ("CIRCLE_BRANCH",), "CIRCLE_PULL_REQUEST"),
)
"""Of each CI: the variable that tells it is there, and those of commit, branch, pull request."""


@dataclass(frozen=True, slots=True)
class Ci:
    """What is known of the job that runs; None is unknown.

    Attributes:
        commit: The commit it runs for.
        branch: The branch.
        pull_request: The number of the pull or merge request.
    """

    commit: str | None = None
    branch: str | None = None
    pull_request: str | None = None


def ci_here(environ: Mapping[str, str]) -> Ci | None:
    """Return what the CI says; None where none runs this."""
    for mark, commit, branches, pull in _TOLD:
        if environ.get(mark) or environ.get(commit):
            return Ci(
                environ.get(commit) or None,
                next((environ[name] for name in branches if environ.get(name)), None),
                _pull_request(environ.get(pull, "")),
            )
    return Ci() if environ.get("CI") else None


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


def _pull_request(told: str) -> str | None:
    """Return the number in `7`, `refs/pull/7/merge` or `https://…/pull/7`; a branch has none."""
    found = re.fullmatch(r"(?:refs/pull/|https?://.*/pull/)?(\d+)(?:/(?:merge|head))?", told)
    return found[1] if found else None
