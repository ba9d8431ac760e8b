"""An experiment and its rows in a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server

HOSTILE = (
    "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
    "'\"><svg onload='window.hacked = 1'></svg>{{ 7 * 7 }}"
)
BIDI = "safe \u202e evil \u2066 text"


@pytest.fixture
def better(folder: Path) -> str:
    """The id's name of an experiment that improves on an earlier one, with a gate."""
    cases = [
        {"id": name, "input": {"fruit": name}, "expected": "apple", "tags": ["fruit"]}
        for name in ("apple", "cherry", "pear")
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    fairtrial("dataset", "add", "fruit", "cases.jsonl")
    (folder / "agent.py").write_text("import sys; print(sys.stdin.read())")
    spec = {
        "dataset": "fruit",
        "task": {"kind": "command", "command": ["python3", "agent.py"]},
        "graders": ["contains"],
        "gate": [{"every_row": {"passed": {"at_least": 1}}}, {"pass_rate": {"at_least": 0.5}}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    fairtrial("exp", "run", "spec.json", "--name", "first")
    (folder / "agent.py").write_text(
        "import sys; t = sys.stdin.read(); print('no' if 'pear' in t else 'apple')"
    )
    fairtrial("exp", "run", "spec.json", "--name", "second")
    return "second"


def test_from_the_gate_to_a_row_and_back(
    server: Server, better: str, page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/experiments/{better}")
    expect(page.get_by_role("heading", name="Failed the release gate")).to_be_visible()
    expect(page.locator(".tile").first).to_contain_text("+33.3 points")
    picture(page, "experiment")
    page.get_by_text("Export", exact=True).click()
    with page.expect_download() as told:
        page.get_by_role("link", name="Trials as JSONL").click()
    assert told.value.suggested_filename == f"{better}.jsonl"
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Trials as JSONL")).to_be_hidden()
    page.get_by_role("link", name="See 1 row").click()
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("pear")
    page.get_by_role("link", name="Improved").click()
    expect(page.locator("[data-row]")).to_contain_text("cherry")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.locator("#panel")
    expect(panel).to_contain_text("Got it done; the baseline did not.")
    expect(panel).to_be_focused()
    assert "row=" in page.url
    picture(page, "row")
    page.reload()
    expect(panel).to_contain_text("Got it done")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator("[data-row]")).to_have_count(1)
    assert "row=" not in page.url
    # Whoever goes through rows with the keyboard goes on from the row that was closed.
    page.goto(f"{server.url}/experiments/{better}")
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    expect(panel).to_contain_text("cherry")
    expect(panel).to_be_focused()  # before that, it is closed by a page of its own
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator("[data-open-row]").nth(1)).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("[data-open-row]").nth(2)).to_be_focused()


def test_a_row_is_copied_reviewed_and_taken_along(
    server: Server, better: str, page: Page, picture: Picture
) -> None:
    page.goto(f'{server.url}/experiments/{better}?row=["pear","default","main"]')
    page.get_by_label("Dataset", exact=True).fill("regressions")
    page.get_by_role("button", name="Add to dataset").click()
    expect(page.get_by_role("status")).to_have_text("Added to regressions@1")
    page.get_by_role("button", name="Send to review").click()
    expect(page.get_by_role("status")).to_contain_text("queue of reviews")
    with page.expect_download() as told:
        page.get_by_role("link", name="Export fix notes").click()
    notes = Path(told.value.path()).read_text()
    assert "# Fix notes: <code>pear</code>" in notes
    assert "## How to tell that it is fixed" in notes
    page.get_by_role("link", name="Review", exact=True).click()
    picture(page, "review")
    page.get_by_label("Note on pear").fill("it is right to refuse")
    page.get_by_role("button", name="Unclear").click()
    expect(page.locator("main")).to_contain_text("Nothing waits.")
    page.get_by_role("link", name="Looked at").click()
    expect(page.locator("main")).to_contain_text("it is right to refuse")


def test_the_baseline_is_chosen_and_made_the_projects(
    server: Server, better: str, page: Page
) -> None:
    page.goto(f"{server.url}/experiments/{better}")
    expect(page.locator(".baseline")).to_contain_text("the newest earlier finished one")
    page.get_by_role("button", name="Make it the project's baseline").click()
    expect(page.locator(".baseline")).to_contain_text("the project's baseline")
    page.get_by_role("button", name="Clear the project's baseline").click()
    expect(page.locator(".baseline")).to_contain_text("the newest earlier finished one")
    page.get_by_role("button", name="Make it the project's baseline").click()
    expect(page.get_by_role("button", name="Clear the project's baseline")).to_be_visible()
    page.get_by_label("Baseline").select_option(index=1)
    expect(page.locator(".baseline")).to_contain_text("as given")


def test_nothing_of_what_others_wrote_runs(
    server: Server, folder: Path, page: Page, picture: Picture
) -> None:
    (folder / "cases.jsonl").write_text(
        json.dumps(
            {
                "id": HOSTILE,
                "input": HOSTILE + BIDI,
                "expected": HOSTILE,
                "tags": [HOSTILE],
                "condition": "attack",
                "split": BIDI,
            }
        )
    )
    fairtrial("dataset", "add", "d<b>", "cases.jsonl")
    (folder / "agent.py").write_text(
        f"import sys; sys.stdin.read(); print({HOSTILE + BIDI!r} + 'x' * 10_000_000)"
    )
    spec = {
        "dataset": "d<b>",
        "name": f"<i>{BIDI}",
        "task": {"kind": "command", "command": ["python3", "agent.py"]},
        "graders": [{"kind": "contains", "name": "<b>grader"}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    assert fairtrial("exp", "run", "spec.json") == 0
    page.goto(f"{server.url}/experiments")
    page.locator("[data-open-row]").first.click()
    expect(page.locator("[data-row]")).to_have_count(1)
    page.locator("[data-open-row]").first.click()
    panel = page.locator("#panel")
    expect(panel).to_contain_text("<script>")
    assert "\u202e" not in panel.inner_text()
    picture(page, "hostile")
    more = panel.get_by_role("link", name="Load all")
    expect(more.last).to_contain_text("more characters")
    assert len(panel.inner_text()) < 40_000
    more.last.click()
    expect(more).to_have_count(0)
    assert len(panel.locator("#whole").inner_text()) > 10_000_000
    page.get_by_role("button", name="Send to review").click()
    page.goto(f"{server.url}/review")
    expect(page.locator("[data-row]")).to_have_count(1)
    assert page.evaluate("window.hacked") is None
