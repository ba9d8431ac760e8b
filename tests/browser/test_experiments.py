"""The list of experiments in a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server


@pytest.fixture
def experiments(folder: Path) -> Sequence[str]:
    """Names of two experiments that ran: the second is better."""
    cases = [{"id": name, "input": name, "expected": "apple"} for name in ("apple", "pear")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    fairtrial("dataset", "add", "fruit", "cases.jsonl")
    for name, command in (("first", ["cat"]), ("second", ["echo", "apple"])):
        spec = {
            "dataset": "fruit",
            "task": {"kind": "command", "command": command},
            "graders": ["contains"],
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        assert fairtrial("exp", "run", "spec.json", "--name", name) == 0
    return ("first", "second")


def test_the_list_is_filtered_and_opened(
    server: Server, experiments: Sequence[str], page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/")
    expect(page.locator("[data-row]")).to_have_count(len(experiments))
    expect(page.locator("[data-row]").first).to_contain_text("second")
    picture(page, "experiments")
    page.keyboard.press("/")
    page.keyboard.type("pass_rate < 0.")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("first")
    assert "where=pass_rate" in page.url


def test_a_filter_that_is_not_understood_points_at_the_column(
    server: Server, experiments: Sequence[str], page: Page, picture: Picture
) -> None:
    del experiments
    page.goto(f"{server.url}/experiments?where=status+%3D+done+and+scroe+%3C+1")
    expect(page.get_by_role("alert")).to_contain_text("column 19")
    picture(page, "experiments-filter-error")


def test_the_server_completes_a_filter(
    server: Server, experiments: Sequence[str], page: Page, picture: Picture
) -> None:
    del experiments
    page.goto(f"{server.url}/experiments")
    box = page.get_by_label("Filter", exact=True)
    box.press_sequentially("stat")
    expect(page.get_by_role("option").first).to_contain_text("status")
    picture(page, "experiments-completion")
    box.press("Tab")
    expect(box).to_have_value("status ")


def test_two_are_ticked_with_the_keyboard(
    server: Server, experiments: Sequence[str], page: Page
) -> None:
    del experiments
    page.goto(f"{server.url}/experiments")
    button = page.get_by_role("button", name="Side by side")
    expect(button).to_be_disabled()
    for key in ("j", "x", "j", "x"):
        page.keyboard.press(key)
    expect(button).to_have_text("Side by side (2)")
    expect(button).to_be_enabled()


def test_without_javascript_the_list_is_whole(server: Server, experiments: Sequence[str]) -> None:
    answer = server.ask("/experiments?sort=name", headers={"accept": "text/html"})
    assert answer.status == 200
    text = answer.body.decode()
    assert text.index(">first<") < text.index(">second<")
    assert len(experiments) == 2
