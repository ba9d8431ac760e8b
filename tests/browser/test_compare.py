"""Two experiments beside each other in a browser."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server

HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\u202e"


@pytest.fixture
def two(folder: Path) -> tuple[str, str]:
    """Names of two experiments: the second fixes cherry, breaks apple, and leaves pear failed."""
    cases = [
        {"id": name, "input": {"fruit": name}, "expected": "apple", "tags": ["fruit"]}
        for name in ("apple", "cherry", "pear", "plum")
    ]
    _add(folder, [*cases, {"id": "old", "input": "apple", "expected": "apple"}])
    _run(folder, "first", "import sys; print('I see', sys.stdin.read())")
    _add(folder, [*cases, {"id": "fresh", "input": "apple", "expected": "apple"}])
    program = (
        "import sys; t = sys.stdin.read(); print('I see '"
        f" + ('apple' if 'cherry' in t else {HOSTILE!r} if 'apple' in t else t))"
    )
    _run(folder, "second", program)
    return "first", "second"


def _add(folder: Path, cases: Sequence[Mapping[str, object]]) -> None:
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    assert fairtrial("dataset", "add", "fruit", "cases.jsonl") == 0


def _run(folder: Path, name: str, program: str) -> None:
    (folder / "agent.py").write_text(program)
    spec = {
        "dataset": "fruit",
        "task": {"kind": "command", "command": ["python3", "agent.py"]},
        "graders": ["contains", {"kind": "regex", "pattern": "see", "name": "sees"}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    assert fairtrial("exp", "run", "spec.json", "--name", name) == 0


def test_from_the_experiment_to_the_rows_that_got_worse(
    server: Server, two: tuple[str, str], page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/experiments/{two[1]}")
    page.get_by_role("link", name="Compare with first").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("second against first")
    scorers = page.get_by_role("region", name="Scorers, a table")
    expect(scorers.get_by_role("row").nth(1)).to_contain_text("Pass rate")
    expect(scorers.get_by_role("row").nth(2)).to_contain_text("contains")
    headings = page.get_by_role("navigation", name="Which rows")
    expect(headings).to_contain_text("Regressed 1")
    expect(headings).to_contain_text("Improved 1")
    expect(headings).to_contain_text("New 1")
    expect(headings).to_contain_text("Dropped 1")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("apple")
    picture(page, "compare")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    expect(panel.locator("del")).to_contain_text(["apple"])
    expect(panel.locator("ins").first).to_contain_text("script")
    picture(page, "compare-row")
    assert page.evaluate("window.hacked") is None
    page.reload()
    expect(panel).to_contain_text("What differs")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    headings.get_by_role("link", name="Improved").click()
    expect(page.locator("[data-row]")).to_contain_text("cherry")
    headings.get_by_role("link", name="Dropped").click()
    expect(page.locator("[data-row]")).to_contain_text("old")
    page.locator("[data-open-row]").click()
    expect(panel).to_contain_text("It did not run this row.")


def test_the_baseline_is_changed_and_a_decision_asked_for(
    server: Server, two: tuple[str, str], page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/compare?b={two[1]}")
    page.get_by_role("link", name="Ship or hold?").click()
    expect(page.get_by_label("Verdict")).to_contain_text("a gate needs 90 %")
    picture(page, "compare-decided")
    page.get_by_role("link", name="Swap sides").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("first against second")


def test_what_cannot_be_compared_says_why(
    server: Server, two: tuple[str, str], folder: Path, page: Page, picture: Picture
) -> None:
    spec = json.loads((folder / "spec.json").read_text())
    spec["graders"] = [{"kind": "contains", "ignore_case": True}]
    (folder / "spec.json").write_text(json.dumps(spec))
    fairtrial("exp", "run", "spec.json", "--name", "third")
    page.goto(f"{server.url}/compare?a={two[0]}&b=third")
    expect(page.get_by_role("heading", name="Not comparable")).to_be_visible()
    picture(page, "compare-not")
