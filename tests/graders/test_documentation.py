"""The reference says what the code does."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fairtrial.graders.command import _request
from fairtrial.graders.registry import GRADERS, Shared, grader_schemas, grader_spec, grader_specs
from fairtrial.model.case import Case
from fairtrial.model.grader import Subject
from fairtrial.model.verdict import Cause
from fairtrial.schema.fields import options_of

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "reference" / "graders.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
SHARED = {"not" if option.name == "negate" else option.name for option in options_of(Shared)}


def rows_of(heading: str) -> dict[str, str]:
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE))


@pytest.mark.parametrize("schema", grader_schemas(), ids=lambda schema: str(schema["title"]))
def test_every_option_has_its_row_and_default(schema: dict[str, Any]) -> None:
    rows = rows_of(schema["properties"]["kind"]["const"])
    own = {k: v for k, v in schema["properties"].items() if k not in SHARED | {"kind"}}
    assert rows.keys() == own.keys()
    for name, option in own.items():
        if name in schema["required"]:
            assert rows[name] == "required"
        elif "default" in option:
            shown = option["default"]
            assert rows[name].strip("`") in [shown, json.dumps(shown)]  # unhashable


def test_every_shared_key_has_its_row() -> None:
    assert rows_of("Every grader").keys() == SHARED | {"kind"}


@pytest.mark.parametrize("kind", GRADERS.modules)
def test_every_kind_has_an_example_and_its_threshold(kind: str) -> None:
    specs = [e for e in EXAMPLES if isinstance(e, dict) and e.get("kind") == kind]
    assert [grader_spec(spec, "docs").kind for spec in specs] == [kind]
    threshold = GRADERS.module(kind, "docs").DEFAULT_THRESHOLD
    assert re.search(rf"^\| \[`{kind}`\].*\| {threshold:g} \|$", TEXT, re.MULTILINE)


def test_the_first_example_is_an_experiments_graders() -> None:
    assert [spec.name for spec in grader_specs(EXAMPLES[0], "docs")] == [
        "exact",
        "polite",
        "no excuses",
    ]


def test_the_request_of_a_program_is_the_real_one() -> None:
    (shown,) = (e for e in EXAMPLES if "case_id" in e)
    subject = Subject(Case("c1", "6 * 7", "42"), "41", trial=1)
    assert json.loads(_request(subject)) == shown


def test_the_python_examples_run() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, "graders.md", "exec"), names)  # noqa: S102  # our own documentation
    subject = Subject(Case("c1", "6 * 7"), "41", trial=1, metrics={"steps": 3})
    assert names["same_plan"]({"plan": 1}, 1) is True
    assert names["short"]("x" * 200) == {"score": 0.5, "reason": "200 characters"}
    assert inspect.iscoroutinefunction(names["few_steps"])
    assert asyncio.run(names["few_steps"](subject)) == 1.0


def test_every_cause_is_explained() -> None:
    text = (DOCS / "explanation" / "verdicts.md").read_text(encoding="utf-8")
    assert all(f"| `{cause}` |" in text for cause in Cause)
