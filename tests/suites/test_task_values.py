"""Values of a `task.toml` whose types fit, and that cannot be all the same."""

from __future__ import annotations

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.suites.task_file import parsed
from fairtrial.suites.task_values import MOST_LEVELS, glob_trouble


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[verifier]\ncommand = ' '", "command is empty"),
        ('[verifier]\ncommand = "a\\u0000b"', "command holds a NUL character"),
        ("[environment]\nsetup = ''", "setup is empty"),
        ("[verifier]\nprotected = ['tests/']", "'tests/' of protected fits no file"),
        ("[verifier]\nhidden = ['../a']", "'../a' of hidden fits no file"),
        ("[verifier]\nenv = {'A=B' = 'c'}", "'A=B' of env cannot be the name of a variable"),
        ('[verifier]\nenv = {A = "\\u0000"}', "the value of A in env holds a NUL"),
        ("[environment]\ndocker_image = '--privileged'", "docker_image cannot be"),
        ("[environment]\ndocker_image = ''", "docker_image cannot be"),
        ("[environment]\nworkdir = 'app'", "workdir must be an absolute path"),
        ("[start]\ncommit = 'main'", "commit must be the hash of a commit, not 'main'"),
        ("[start]\ncommit = '--all'", "commit must be the hash of a commit"),
        ("[start]\ncommit = '''abcdef1\n2'''", "commit must be the hash of a commit"),
        ("[start]\ngrade = 'conflicting'", "grade must be exact, base-exact or guessed"),
        ("[start]\ngrade = 'sure'", "grade must be exact, base-exact or guessed"),
        ('[start]\nrepo = "a\\u0000b"', "repo cannot be"),
        ("[start]\npatch = ''", "patch cannot be"),
        (f"a = {'[' * (MOST_LEVELS + 1)}{']' * (MOST_LEVELS + 1)}", "levels deep"),
        (f"a = {'[' * 5000}{']' * 5000}", "levels deep"),
    ],
)
def test_what_cannot_be_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(text, "task.toml")
    assert says in str(caught.value)


@pytest.mark.parametrize("glob", ["tests/*", "*.py", "test_[ab].py", ".github/*", "a b/c"])
def test_globs_that_may_fit(glob: str) -> None:
    assert glob_trouble(glob) is None


@pytest.mark.parametrize("glob", ["", "/etc/*", "./tests/*", "tests/", "a//b", "a/../b", "a\0b"])
def test_globs_that_fit_nothing(glob: str) -> None:
    assert glob_trouble(glob) is not None
