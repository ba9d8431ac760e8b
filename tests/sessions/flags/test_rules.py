"""All rules together: their names, their documentation, and that they stand whatever comes."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sessions.story import FAILING, PASSING, Story

from fairtrial.model.flag import FlagLevel
from fairtrial.model.session import Operation, ResultStatus, SessionState
from fairtrial.sessions.decision_points.registry import BEHAVIORS, anchors
from fairtrial.sessions.flags.built_in import BUILT_IN, built_in_rules
from fairtrial.sessions.registry import flag_rules

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "flags.md"
TEXT = PAGE.read_text(encoding="utf-8")
NAMES = [rule.name for rule in built_in_rules()]


def test_every_module_has_its_rule() -> None:
    folder = Path(importlib.import_module("fairtrial.sessions.flags").__file__ or "").parent
    modules = {path.stem for path in folder.glob("*.py")}
    assert modules - {"__init__", "rule", "built_in", "diff_lines"} == set(BUILT_IN)
    assert [name.replace("-", "_") for name in NAMES] == list(BUILT_IN)
    assert [rule.name for rule in flag_rules()] == sorted(NAMES)


@pytest.mark.parametrize("rule", built_in_rules(), ids=lambda rule: rule.name)
def test_every_rule_is_documented(rule: object) -> None:
    name, summary = getattr(rule, "name", ""), getattr(rule, "summary", "")
    assert f"\n## {name}\n" in TEXT
    assert re.search(rf"^\| \[`{name}`\]\(#{name}\) \| {re.escape(summary)} \|", TEXT, re.MULTILINE)
    module = importlib.import_module(f"fairtrial.sessions.flags.{name.replace('-', '_')}")
    assert (module.__doc__ or "").startswith(f"`{name}`: ")


@pytest.mark.parametrize("name", BEHAVIORS)
def test_every_behavior_is_documented(name: str) -> None:
    (anchor,) = anchors((name,))
    assert f"\n### {name}\n" in TEXT or f"\n## {name}\n" in TEXT
    assert anchor.summary in " ".join(TEXT.split())


def test_a_session_that_went_well_has_no_flag() -> None:
    story = Story().prompt("Fix add.").read("calc.py", "a - b").shell("pytest", FAILING, 1)
    story.edit("calc.py", "return a - b", "return a + b").shell("pytest -q | tail -1", PASSING)
    assert story.say("Fixed `add`; all 3 tests pass.").flags() == []


def test_a_session_without_events_has_no_flag() -> None:
    for state in SessionState:
        flags = Story(state).flags()
        assert {flag.name for flag in flags} <= {"api-error", "ended-by-limit", "interrupted"}


COMMANDS = st.sampled_from(
    [
        "pytest",
        "pytest | tail",
        "ls",
        "rm a.py",
        "git status",
        "sed -i s/a/b/ a.py",
        "npm test",
        "(",
    ]
)
TEXTS = st.sampled_from(
    ["", FAILING, PASSING, "All tests pass.", "It fails.", "Shall I?", "\0\ud800"]
)


def happen(story: Story, what: str, command: str, text: str, status: ResultStatus) -> None:
    match what:
        case "shell":
            story.shell(command, text, None, status=status)
        case "edit":
            story.edit("test_a.py" if "a" in text else "a.py", command, text, status=status)
        case "say":
            story.say(text)
        case "prompt":
            story.prompt(text)
        case "pending":
            story.call("Bash", Operation.SHELL, {"command": command}, command=command)
        case "orphan":
            story.result("none", status, text)
        case _:
            story.read(command, text, status)


@given(
    st.sampled_from(SessionState),
    st.lists(
        st.tuples(
            st.sampled_from(["shell", "edit", "say", "prompt", "pending", "orphan", "read"]),
            COMMANDS,
            TEXTS,
            st.sampled_from(ResultStatus),
        ),
        max_size=40,
    ),
)
def test_whatever_happens_flags_name_events_that_are_there(
    state: SessionState, steps: list[tuple[str, str, str, ResultStatus]]
) -> None:
    story = Story(state)
    for what, command, text, status in steps:
        happen(story, what, command, text, status)
    for flag in story.flags():
        assert flag.name in NAMES
        assert flag.level in FlagLevel
        assert flag.summary.isprintable() or "\ud800" in flag.summary
        assert list(flag.evidence) == sorted(flag.evidence)
        assert all(1 <= number <= len(story.events) for number in flag.evidence)
    for anchor in anchors():
        for point in anchor.points(story.session(), story.events):
            assert 0 <= point.after <= len(story.events)
    assert story.flags() == story.flags()
