"""`task.toml`: what fits, what is passed over, and what is refused with all its problems."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.suites.task_file import (
    AgentTable,
    EnvironmentTable,
    OriginTable,
    StartTable,
    TaskFile,
    VerifierTable,
    parsed,
)


def test_an_empty_file_has_the_usual_limits() -> None:
    file = parsed("", "task.toml")
    assert file == TaskFile()
    assert (file.agent.timeout_sec, file.verifier.timeout_sec) == (1800.0, 600.0)


def test_keys_of_others_are_passed_over() -> None:
    text = """
    version = "1.0"
    [metadata]
    author_name = "Ada"
    made = 2026-11-29
    tags = ["parser"]
    [task]
    keywords = ["bugs"]
    [verifier]
    timeout_sec = 120
    environment_mode = "separate"
    [environment]
    cpus = 2
    allow_internet = true
    """
    file = parsed(text, "task.toml")
    assert file.metadata == {"author_name": "Ada", "made": "2026-11-29", "tags": ["parser"]}
    assert file.keywords == ("bugs",)
    assert file.verifier.timeout_sec == 120


def test_a_misspelt_key_of_an_own_table_is_told_with_all_other_problems() -> None:
    text = """
    [start]
    comit = "abc"
    [agent]
    timeout_sec = -1
    [verifier]
    command = 3
    [metadata]
    tags = "parser"
    """
    with pytest.raises(UsageError) as caught:
        parsed(text, "t/task.toml")
    told = str(caught.value)
    assert "did you mean 'commit'?" in told
    assert "[agent] expected float > 0.0 at timeout_sec" in told
    assert "[verifier] expected str | null, got int at command" in told
    assert "[metadata] tags must be a list of texts" in told


@pytest.mark.parametrize("text", ["[start", "start = 3", 'a = "\x00"'])
def test_what_is_no_toml_or_no_table_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"no TOML|must be a table"):
        parsed(text, "task.toml")


def test_a_start_names_the_repository_the_suite_lies_in_unless_told() -> None:
    assert parsed('[start]\ncommit = "abc"', "task.toml").start == StartTable(commit="abc")


def test_every_key_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/eval-tasks.md").read_text()
    tables = {
        "agent": AgentTable,
        "verifier": VerifierTable,
        "environment": EnvironmentTable,
        "start": StartTable,
        "origin": OriginTable,
    }
    keys = {f"{name}.{one.name}" for name, kind in tables.items() for one in fields(kind)}
    section = page.split("## task.toml")[1].split("\n## ")[0]
    described = set(re.findall(r"`([a-z]\w*\.\w+)`", section))
    assert described - {"metadata.tags", "task.keywords", "task.toml"} == keys
