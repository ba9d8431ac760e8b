from __future__ import annotations

from pathlib import Path

import pytest

from fairtrial.app.ci import Ci, ci_here, environment_here
from fairtrial.app.provenance import provenance
from fairtrial.model.errors import UsageError

GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_SHA": "abc", "GITHUB_REF_NAME": "main"}


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({**GITHUB, "GITHUB_REF": "refs/heads/main"}, Ci("abc", "main", None)),
        (
            {**GITHUB, "GITHUB_HEAD_REF": "fix", "GITHUB_REF": "refs/pull/7/merge"},
            Ci("abc", "fix", "7"),
        ),
        ({**GITHUB, "GITHUB_REF": "refs/heads/pull/7"}, Ci("abc", "main", None)),
        (
            {"GITLAB_CI": "1", "CI_COMMIT_SHA": "d", "CI_COMMIT_REF_NAME": "é"},
            Ci("d", "é", None),
        ),
        (
            {
                "GITLAB_CI": "1",
                "CI_COMMIT_SHA": "d",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "fix",
                "CI_COMMIT_REF_NAME": "refs/merge-requests/3/head",
                "CI_MERGE_REQUEST_IID": "3",
            },
            Ci("d", "fix", "3"),
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_COMMIT": "e",
                "BUILDKITE_BRANCH": "b",
                "BUILDKITE_PULL_REQUEST": "false",
            },
            Ci("e", "b", None),
        ),
        (
            {
                "CIRCLECI": "true",
                "CIRCLE_SHA1": "f",
                "CIRCLE_BRANCH": "b",
                "CIRCLE_PULL_REQUEST": "https://example.org/o/r/pull/12",
            },
            Ci("f", "b", "12"),
        ),
        ({"CI": "1"}, Ci()),
        ({}, None),
    ],
)
def test_what_a_ci_tells(environ: dict[str, str], told: Ci | None) -> None:
    assert ci_here(environ) == told
    assert environment_here(environ) == ("dev" if told is None else "ci")


def test_an_environment_that_is_named_goes_first(tmp_path: Path) -> None:
    environ = {**GITHUB, "FAIRTRIAL_ENVIRONMENT": "staging"}
    found = provenance(tmp_path, environ, "sdk")
    assert (found.environment, found.git_commit, found.source) == ("staging", "abc", "sdk")


def test_an_environment_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="'production' is no environment"):
        environment_here({"FAIRTRIAL_ENVIRONMENT": "production"})
