"""Calls of tools: what they run, and when two are the same."""

from __future__ import annotations

import pytest

from fairtrial.conduct.calls import action_key, command_of, commands_of
from fairtrial.model.json import Json


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({"command": "ls -l"}, "ls -l"),
        ({"cmd": "ls"}, "ls"),
        ({"command": ["ls", "a b"]}, "ls 'a b'"),
        ({"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ({"command": ["/bin/sh", "-c", "ls"]}, "ls"),
        ({"command": 3}, None),
        ({"command": ["ls", 3]}, None),
        ({"file_path": "/x"}, None),
        ("ls", None),
        (None, None),
    ],
)
def test_the_command_of_a_call(given: Json, command: str | None) -> None:
    assert command_of(given) == command


def test_the_commands_of_a_program() -> None:
    code = """
        const a = await tools.exec_command({cmd: "pytest -q \\"a\\"", workdir: "/x"});
        await tools.exec_command({ "cmd": 'it\\'s' });
        await tools.exec_command({cmd: `one\\ntwo`});
    """
    assert list(commands_of(code)) == ['pytest -q "a"', "it's", "one\ntwo"]
    assert list(commands_of({"cmd": "ls"})) == ["ls"]
    assert list(commands_of({"path": "x"})) == []


def test_two_calls_are_the_same_whatever_their_blanks_and_the_order_of_their_fields() -> None:
    one = action_key("Bash", "pytest  -q\n", {"command": "pytest  -q\n", "description": "Run"})
    assert one == action_key("Bash", " pytest -q", {"command": "pytest -q"})
    assert one != action_key("exec", "pytest -q", None)
    edit: Json = {"a": 1, "b": [2]}
    assert action_key("Edit", None, edit) == action_key("Edit", None, {"b": [2], "a": 1})
    assert action_key("Edit", None, edit) != action_key("Edit", None, {"a": 1, "b": [3]})
    assert action_key("exec", None, "x") != action_key("exec", None, "y")
    assert action_key("x", None, {"a": "\ud800"})
