"""Several experiments as columns in a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server


@pytest.fixture
def three(folder: Path) -> Sequence[str]:
    """Names of three experiments: all pass apple, only one passes pear, none passes plum."""
    cases = [{"id": n, "input": n, "expected": n} for n in ("apple", "pear", "plum")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    assert fairtrial("dataset", "add", "fruit", "cases.jsonl") == 0
    said = {"one": "apple", "two": "apple and pear, the ripe ones", "three": "apple"}
    for name, text in said.items():
        spec = {
            "dataset": "fruit",
            "task": {"kind": "command", "command": ["echo", text]},
            "graders": ["contains", {"kind": "regex", "pattern": "and", "name": "polite"}],
            "gate": [{"pass_rate": {"at_least": 0.5}}],
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        assert fairtrial("exp", "run", "spec.json", "--name", name) in (0, 1)
    return tuple(said)


def test_ticked_experiments_stand_side_by_side(
    server: Server, three: Sequence[str], page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/experiments")
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.get_by_role("button", name="Side by side (3)").click()
    table = page.get_by_role("region", name="Side by side, a table")
    expect(table.locator("thead th")).to_have_count(1 + len(three))
    expect(page.locator("[data-row]")).to_have_count(3)
    picture(page, "side-by-side")
    shown = page.get_by_role("navigation", name="Which rows")
    shown.get_by_role("link", name="Some failed").click()
    expect(page.locator("[data-row]")).to_have_count(3)
    page.get_by_label("polite").uncheck()
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("contains")).to_be_checked()
    expect(page.get_by_label("polite")).not_to_be_checked()
    shown.get_by_role("link", name="Differ").click()
    expect(page.locator("[data-row]")).to_have_count(2)
    assert "by=contains" in page.url
    page.locator("[data-open-row]").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=3)).to_contain_text(["Input", "Expected", "three"])
    picture(page, "side-by-side-row")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert "by=contains" in page.url
