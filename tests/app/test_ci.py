from __future__ import annotations

import os
import subprocess
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
        (
            {**GITHUB, "GITHUB_REF": "refs/heads/pull/7", "GITHUB_REF_NAME": "pull/7"},
            Ci("abc", "pull/7", None),
        ),
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
        (
            {**GITHUB, "GITHUB_REF": "refs/tags/v1", "GITHUB_REF_NAME": "v1"},
            Ci("abc", None, None),
        ),
        ({**GITHUB, "GITHUB_REF": ""}, Ci("abc", "main", None)),
        (
            {
                "GITLAB_CI": "true",
                "CI_COMMIT_SHA": "d",
                "CI_COMMIT_REF_NAME": "v1",
                "CI_COMMIT_TAG": "v1",
            },
            Ci("d", None, None),
        ),
        (
            {"CIRCLECI": "true", "CIRCLE_SHA1": "f", "CIRCLE_TAG": "v1"},
            Ci("f", None, None),
        ),
        (
            {
                "BUILDKITE": "true",
                "BUILDKITE_COMMIT": "e",
                "BUILDKITE_BRANCH": "v1",
                "BUILDKITE_TAG": "v1",
            },
            Ci("e", None, None),
        ),
        (
            {
                "TF_BUILD": "True",
                "BUILD_SOURCEVERSION": "a1",
                "BUILD_SOURCEBRANCH": "refs/heads/feature/x",
            },
            Ci("a1", "feature/x", None),
        ),
        (
            {
                "TF_BUILD": "True",
                "BUILD_SOURCEVERSION": "a1",
                "BUILD_SOURCEBRANCH": "refs/pull/7/merge",
                "SYSTEM_PULLREQUEST_SOURCEBRANCH": "refs/heads/x",
                "SYSTEM_PULLREQUEST_PULLREQUESTID": "7",
            },
            Ci("a1", "x", "7"),
        ),
        (
            {"JENKINS_URL": "http://ci", "GIT_COMMIT": "b2", "GIT_BRANCH": "origin/main"},
            Ci("b2", "main", None),
        ),
        (
            {
                "JENKINS_URL": "http://ci",
                "GIT_COMMIT": "b2",
                "BRANCH_NAME": "PR-8",
                "CHANGE_BRANCH": "fix",
                "CHANGE_ID": "8",
            },
            Ci("b2", "fix", "8"),
        ),
        (
            {
                "BITBUCKET_BUILD_NUMBER": "4",
                "BITBUCKET_COMMIT": "c3",
                "BITBUCKET_BRANCH": "fix",
                "BITBUCKET_PR_ID": "9",
            },
            Ci("c3", "fix", "9"),
        ),
        (
            {
                "TRAVIS": "true",
                "TRAVIS_COMMIT": "d4",
                "TRAVIS_BRANCH": "main",
                "TRAVIS_PULL_REQUEST_BRANCH": "",
                "TRAVIS_PULL_REQUEST": "false",
            },
            Ci("d4", "main", None),
        ),
        (
            {
                "DRONE": "true",
                "DRONE_COMMIT_SHA": "e5",
                "DRONE_BRANCH": "main",
                "DRONE_SOURCE_BRANCH": "fix",
                "DRONE_PULL_REQUEST": "10",
            },
            Ci("e5", "fix", "10"),
        ),
        (
            {
                "CI": "woodpecker",
                "CI_COMMIT_SHA": "f6",
                "CI_COMMIT_BRANCH": "main",
                "CI_COMMIT_SOURCE_BRANCH": "fix",
                "CI_COMMIT_PULL_REQUEST": "11",
            },
            Ci("f6", "fix", "11"),
        ),
        (
            {
                "CODEBUILD_BUILD_ID": "b:1",
                "CODEBUILD_RESOLVED_SOURCE_VERSION": "g7",
                "CODEBUILD_WEBHOOK_HEAD_REF": "refs/heads/fix",
                "CODEBUILD_WEBHOOK_TRIGGER": "pr/12",
            },
            Ci("g7", "fix", "12"),
        ),
        (
            {
                "APPVEYOR": "True",
                "APPVEYOR_REPO_COMMIT": "h8",
                "APPVEYOR_REPO_BRANCH": "main",
            },
            Ci("h8", "main", None),
        ),
        (
            {"SEMAPHORE": "true", "SEMAPHORE_GIT_SHA": "i9", "SEMAPHORE_GIT_BRANCH": "main"},
            Ci("i9", "main", None),
        ),
        ({"TEAMCITY_VERSION": "2026", "BUILD_VCS_NUMBER": "j0"}, Ci("j0")),
        ({"CI": "1"}, Ci()),
        ({"CI": "false"}, None),
        ({"CI": "0", "GITHUB_ACTIONS": "false"}, None),
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


def test_git_tells_what_no_ci_does(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}

    def git(*words: str) -> str:
        line = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()

    def told() -> tuple[str | None, str | None, bool | None]:
        found = provenance(tmp_path, environ)
        return found.git_commit, found.git_branch, found.git_dirty

    assert told() == (None, None, None)
    git("init", "-q", "-b", "main")
    assert told() == (None, "main", False)
    git("commit", "-q", "--allow-empty", "-m", "first")
    commit = git("rev-parse", "HEAD")
    assert told() == (commit, "main", False)
    git("checkout", "-q", "--detach")
    assert told() == (commit, None, False)


def test_an_environment_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="'production' is no environment"):
        environment_here({"FAIRTRIAL_ENVIRONMENT": "production"})
