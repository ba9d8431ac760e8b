"""From a user's JSON to a task: mistakes are found at once, with advice."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jsonschema
import pytest

from fairtrial.model.errors import UsageError
from fairtrial.tasks.registry import TASKS, check_shows_attempts, task_spec


def test_a_spec_keeps_what_the_user_wrote() -> None:
    written = {"kind": "http", "url": "http://x/", "headers": {"Authorization": "Bearer ${KEY}"}}
    assert task_spec(written, "spec").content() == written


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("cat", "a task is a JSON object, not a text"),
        (None, "not null"),
        ([1], "not a list"),
        ({}, "has no 'kind'"),
        ({"command": "cat"}, 'add "kind": "command"'),
        ({"url": "http://x"}, 'add "kind": "http"'),
        ({"kind": 3}, "'kind' must be a text"),
        ({"kind": "comand"}, "did you mean 'command'?"),
        ({"kind": "command"}, "'command' is missing"),
        ({"kind": "command", "command": "cat", "evelope": True}, "did you mean 'envelope'?"),
        ({"kind": "command", "command": 3}, "'command': "),
        ({"kind": "command", "command": ["a", 1]}, "'command': "),
        ({"kind": "command", "command": "cat", "max_output": 0}, "'max_output': "),
        ({"kind": "http", "url": "http://x", "envelope": "yes"}, "'envelope': "),
        ({"kind": "python", "function": None}, "'function': "),
    ],
)
def test_a_bad_spec_is_refused_with_advice(value: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        task_spec(value, "spec.json")
    assert message in str(caught.value)
    assert "spec.json" in str(caught.value)


def test_every_option_of_every_kind_is_described() -> None:
    for schema in TASKS.schemas({}):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["description"]
        for name, option in schema["properties"].items():
            assert name == "kind" or option["description"], f"{schema['title']}: {name}"


def test_describing_and_checking_specs_imports_nothing_slow() -> None:
    code = (
        "import sys; from fairtrial.tasks.registry import TASKS, task_spec; TASKS.schemas({});"
        "task_spec({'kind': 'http', 'url': 'http://x'}, 's');"
        "print([m for m in ('aiohttp', 'numpy', 'urllib.request') if m in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"kind": "command", "command": "cat"}, "without an envelope"),
        ({"kind": "command", "command": "cat", "envelope": True}, None),
        ({"kind": "http", "url": "http://x"}, "without an envelope"),
        ({"kind": "http", "url": "http://x", "envelope": True}, None),
        ({"kind": "python", "function": "m:f"}, None),
        ({"kind": "prompt"}, None),
        ({"kind": "continuation"}, "cannot show earlier attempts"),
    ],
)
def test_a_task_that_cannot_show_earlier_attempts_has_none(
    spec: dict[str, Any], problem: str | None
) -> None:
    if problem is None:
        check_shows_attempts(task_spec(spec, "spec"), "spec")
        return
    with pytest.raises(UsageError, match=problem):
        check_shows_attempts(task_spec(spec, "spec"), "spec")
