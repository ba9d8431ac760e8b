"""What is recognised as a weaker sentence, and what is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairtrial.harness.relaxing import RULES, relaxed

RELAXED = [
    ("obligation", "You must run the tests.", "You should run the tests."),
    ("obligation", "Tests are required.", "Tests are recommended."),
    ("obligation", "Agents have to ask.", "Agents may ask."),
    ("obligation", "You should run the tests.", "You can run the tests."),
    ("prohibition", "Never push to main.", "Avoid pushing to main."),
    ("prohibition", "Do not push to main.", "You should not push to main."),
    ("prohibition", "Don't push.", "Try not to push."),
    ("prohibition", "Force pushes are forbidden.", "Force pushes are discouraged."),
    ("frequency", "Always run the tests.", "Usually run the tests."),
    ("frequency", "Generally ask first.", "Sometimes ask first."),
    ("quantity", "Run all tests.", "Run most tests."),
    ("quantity", "Every change needs a test.", "Some changes need a test."),
    ("negation", "Do not push to main.", "Do push to main."),
    ("negation", "No secrets in logs.", "Secrets in logs."),
    ("negation", "You can't skip tests.", "You can skip tests."),
    ("exception", "Keep the API stable.", "Keep the API stable unless asked."),
    ("exception", "Run lint on files.", "Run lint on files except tests."),
    ("exception", "Ask first unless told.", "Ask first unless told or in a hurry."),
    ("softener", "Run the tests.", "Run the tests if possible."),
    ("softener", "Write tests.", "Try to write tests."),
    ("softener", "Update the docs.", "Update the docs when convenient."),
    ("number", "Keep functions under 50 lines.", "Keep functions under 80 lines."),
    ("number", "At most two retries.", "At most five retries."),
    ("number", "Keep at least 80% coverage.", "Keep at least 60% coverage."),
    ("number", "Answer within 30 seconds.", "Answer within 2 minutes."),
    ("number", "Up to 1,000 rows.", "Up to 10,000 rows."),
    ("deadline", "Report failures immediately.", "Report failures soon."),
    ("deadline", "Report it at once.", "Report it eventually."),
    ("order", "Run the tests before the commit.", "Run the tests after the commit."),
    ("alternative", "Run lint and tests.", "Run lint or tests."),
    ("exception", "Never commit secrets.", "Never commit secrets without asking."),
    ("condition", "You must run the tests.", "You must run the tests if there are any."),
    ("condition", "Ask before deleting data.", "Ask when deleting much data."),
    ("shortened", "Never log tokens or passwords.", "Never log passwords."),
    ("shortened", "Run the tests before every commit.", "Run the tests."),
    ("shortened", "Always run the tests.", "Run the tests."),
    ("only", "Only owners change this file.", "Owners change this file."),
]
NOT_RELAXED = [
    ("You should run the tests.", "You must run the tests."),
    ("Avoid pushing to main.", "Never push to main."),
    ("You must not push.", "You cannot push."),
    ("Do not push.", "Never push."),
    ("Don't push.", "Do not push."),
    ("Usually run the tests.", "Always run the tests."),
    ("Run most tests.", "Run all tests."),
    ("Ask first unless told or asked.", "Ask first unless told."),
    ("Keep functions under 80 lines.", "Keep functions under 50 lines."),
    ("Keep at least 60% coverage.", "Keep at least 80% coverage."),
    ("Answer within 2 minutes.", "Answer within 30 seconds."),
    ("Answer within 60 seconds.", "Answer within 1 minute."),
    ("Use release 1.2.3.", "Use release 1.2.4."),
    ("Run the tests after the commit.", "Run the tests before the commit."),
    ("Do not lint and push.", "Do not lint or push."),
    ("Use at most 3 retries.", "Use up to 3 retries, not many."),
    ("Usually run the tests.", "Run the tests."),
    ("Ask first if possible.", "Ask first."),
    ("Never push without asking.", "Never push."),
    ("Run the tests.", "Execute the test suite."),
]


@pytest.mark.parametrize(("rule", "old", "new"), RELAXED)
def test_relaxed(rule: str, old: str, new: str) -> None:
    found = relaxed(old, new)
    assert found is not None
    assert found[0] == rule
    assert found[1]


@pytest.mark.parametrize(("old", "new"), NOT_RELAXED)
def test_not_relaxed(old: str, new: str) -> None:
    assert relaxed(old, new) is None


def test_every_rule_is_tried_and_documented() -> None:
    names = [rule.name for rule in RULES]
    assert {rule for rule, *_ in RELAXED} == set(names)
    page = (Path(__file__).parents[2] / "docs/reference/protected-lines.md").read_text("utf-8")
    section = page.split("\n## When a sentence is relaxed\n")[1]
    rows = re.findall(r"^\| `([a-z]+)` \| (.*) \|$", section, re.MULTILINE)
    assert rows == [(rule.name, rule.says) for rule in RULES] + [("mark", rows[-1][1])]
