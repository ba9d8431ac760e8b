"""The reference says what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairtrial.tasks.envelope import read_envelope, request_envelope
from fairtrial.tasks.registry import TASKS, task_spec
from fairtrial.testing.task import call_of
from fairtrial.workspaces.environment import ALWAYS_PASSED

_TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "tasks.md").read_text(encoding="utf-8")
_EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", _TEXT, re.DOTALL)]


@pytest.mark.parametrize("schema", TASKS.schemas({}), ids=lambda schema: schema["title"])
def test_every_option_has_its_row_and_default(schema: dict[str, Any]) -> None:
    kind = schema["properties"]["kind"]["const"]
    section = _TEXT.split(f"\n## {kind}\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE))
    for name, option in schema["properties"].items():
        if name == "kind":
            continue
        assert name in rows
        if name in schema["required"]:
            assert rows[name] == "required"
        elif "default" in option:
            shown = option["default"]
            assert rows[name].strip("`") in [shown, json.dumps(shown)]  # unhashable


def test_the_example_specs_are_accepted() -> None:
    specs = [example for example in _EXAMPLES if "kind" in example]
    assert {task_spec(spec, "docs").kind for spec in specs} == {
        "command",
        "http",
        "prompt",
        "continuation",
        "agent",
    }


def test_the_example_envelopes_are_the_real_ones() -> None:
    told, answer = (example for example in _EXAMPLES if "kind" not in example)
    assert list(told) == list(request_envelope(call_of("x")))
    result = read_envelope(msgspec.json.encode(answer), "docs")
    assert (result.output, result.cost_usd, result.error) == ("42", 0.0031, None)


def test_the_variables_that_pass_are_listed() -> None:
    for name in ALWAYS_PASSED:
        assert f"`{name}`" in _TEXT


def test_the_python_examples_run() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", _TEXT, re.DOTALL):
        exec(compile(block, "tasks.md", "exec"), names)  # noqa: S102  # our own documentation
    assert names["answer"].__name__ == "answer"
