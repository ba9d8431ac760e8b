from __future__ import annotations

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.workspaces.environment import child_environment

PARENT = {
    "PATH": "/bin",
    "LC_ALL": "C.UTF-8",
    "OPENAI_API_KEY": "secret",
    "AWS_REGION": "eu",
    "AWS_TOKEN": "secret",
}


def test_secrets_of_the_parent_do_not_pass() -> None:
    assert child_environment(PARENT, {}, (), "spec") == {"PATH": "/bin", "LC_ALL": "C.UTF-8"}


def test_what_is_named_passes_also_by_pattern_and_unset_names_are_no_error() -> None:
    child = child_environment(PARENT, {}, ("OPENAI_API_KEY", "AWS_*", "UNSET"), "spec")
    assert child == PARENT


def test_what_is_set_wins_and_may_refer_to_the_parent() -> None:
    child = child_environment(PARENT, {"PATH": "/opt:${PATH}", "KEY": "${AWS_TOKEN}"}, (), "spec")
    assert child == {"PATH": "/opt:/bin", "LC_ALL": "C.UTF-8", "KEY": "secret"}


def test_a_reference_to_an_unset_variable_says_where_and_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"\$\{NOPE\} is not set") as caught:
        child_environment(PARENT, {"KEY": "Bearer ${NOPE}"}, (), "spec.yaml: task")
    assert caught.value.where == "spec.yaml: task, variable KEY"
    assert caught.value.fix is not None
    assert "set NOPE" in caught.value.fix


@pytest.mark.parametrize("extra", [{"A=B": "1"}, {"": "1"}, {"A\0": "1"}, {"A": "1\0"}])
def test_impossible_variables_are_refused(extra: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        child_environment(PARENT, extra, (), "spec")
