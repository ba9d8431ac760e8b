"""A series over time, and datasets, in a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server


@pytest.fixture
def loop(folder: Path) -> None:
    """A series of three rounds on the dataset `fruit`."""
    names = ("apple", "pear", "plum")
    cases = [{"id": n, "input": n, "expected": n, "tags": ["f"]} for n in names]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    assert fairtrial("dataset", "add", "fruit", "cases.jsonl") == 0
    for number in range(1, 4):
        spec = {
            "dataset": "fruit",
            "task": {"kind": "command", "command": ["echo", *names[:number]]},
            "graders": ["contains"],
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        fairtrial("exp", "run", "spec.json", "--name", f"round-{number}", "--series", "prompt")


@pytest.mark.usefixtures("loop")
def test_a_series_over_time(server: Server, page: Page, picture: Picture) -> None:
    page.goto(f"{server.url}/trend")
    page.get_by_role("link", name="prompt").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Series prompt")
    expect(page.locator("[data-row]")).to_have_count(3)
    expect(page.get_by_role("img", name="pass rates over time")).to_be_visible()
    picture(page, "trend")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Datasets").click()
    page.get_by_role("link", name="fruit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("fruit@1")
    expect(page.locator("tbody tr")).to_have_count(3)
    picture(page, "dataset")
    page.get_by_role("link", name="Experiments over time").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Dataset fruit")
    page.goto(f"{server.url}/trend?series=nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is no experiment in a series")
