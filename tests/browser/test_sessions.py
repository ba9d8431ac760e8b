"""Captured sessions in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.app.suite_repo import a_repo
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import Server
from tests.sessions.transcripts import Claude

HOSTILE = "<img src=x onerror='window.hacked = 1'>\u202e"


@pytest.fixture
def flagged(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session whose agent says that all is well after a command that failed."""
    del folder
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    claude = Claude()
    claude.prompt(f"Fix the cart. {HOSTILE}")
    failed = f"FAILED test_a.py::test_a {HOSTILE}\n" + "x" * 20_000 + "\n1 failed in 0.1s"
    claude.ran("c1", "python -m pytest -q", failed, code=1)
    claude.next_message()
    claude.said("Done! All tests pass.")
    claude.write(tmp_path / "claude")
    assert fairtrial("sessions", "sync") == 0


@pytest.mark.usefixtures("flagged")
def test_from_a_flag_to_its_turn_and_into_a_dataset(
    server: Server, page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/sessions")
    page.get_by_role("link", name="Flagged").click()
    expect(page.locator("[data-row]")).to_have_count(1)
    expect(page.locator("[data-row]")).to_contain_text("done-while-failing")
    picture(page, "sessions")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Fix the cart.")
    expect(page.locator(".event.flagged")).to_have_count(1)
    expect(page.locator(".event.flagged")).to_contain_text("All tests pass")
    picture(page, "session")
    page.get_by_text("20,0", exact=False).click()
    page.get_by_role("link", name="Load all").click()
    expect(page.locator("#whole")).to_contain_text("1 failed in 0.1s")
    page.go_back()
    page.get_by_label("As a case in the dataset").fill("mine")
    page.get_by_role("button", name="Keep as a case").click()
    expect(page.locator("main")).to_contain_text("Kept as a case in mine@1")
    assert page.evaluate("window.hacked") is None
    assert "\u202e" not in page.locator("main").inner_text()


@pytest.mark.usefixtures("flagged")
def test_what_cannot_be_drafted_says_why(server: Server, page: Page, picture: Picture) -> None:
    page.goto(f"{server.url}/sessions/latest")
    page.get_by_text("Draft an eval", exact=True).first.click()
    page.get_by_label("The command that says").fill("true")
    page.get_by_role("button", name="Draft an eval").click()
    expect(page.get_by_role("alert")).to_contain_text("in no git repository")
    expect(page.get_by_label("The command that says")).to_have_value("true")
    picture(page, "session-not-drafted")


@pytest.fixture
def in_a_repository(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session that was asked to mend what a test of its repository finds, and did not."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
    a_repo(folder)
    claude = Claude()
    claude.prompt("Fix add in calc.py, <b>please</b>")
    claude.ran("c1", "python3 test_calc.py", "add is wrong", code=1)
    claude.next_message()
    claude.said("Done! All tests pass.")
    for record in claude.records:
        record["cwd"] = str(folder)
    claude.write(tmp_path / "claude")
    assert fairtrial("sessions", "sync") == 0
    return folder


def test_a_failed_session_becomes_a_draft_of_an_eval(
    server: Server, in_a_repository: Path, page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/sessions/latest")
    page.get_by_text("Draft an eval", exact=True).first.click()
    page.get_by_label("The command that says").fill("python3 test_calc.py")
    page.get_by_label("Files that only the verifier may see").fill("test_*.py")
    page.get_by_label("Suite").fill("mistakes")
    page.get_by_role("button", name="Draft an eval").click()
    told = page.get_by_role("status")
    expect(told).to_contain_text("Drafted mistakes/")
    picture(page, "session-drafted")
    name = told.inner_text().split("mistakes/")[1].split(";")[0]
    assert fairtrial("eval", "show", f"mistakes/{name}") == 0
    (task,) = in_a_repository.rglob("task.toml")
    text = task.read_text()
    assert "python3 test_calc.py" in text
    instruction = "".join(one.read_text() for one in task.parent.glob("*.md"))
    assert "Fix add in calc.py, <b>please</b>" in text + instruction
    page.get_by_text("Draft an eval", exact=True).first.click()
    page.get_by_label("The command that says").fill("python3 test_calc.py")
    page.get_by_label("Suite").fill("../mistakes")
    page.get_by_role("button", name="Draft an eval").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Suite")).to_have_value("../mistakes")


def test_a_filter_and_an_empty_list(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/sessions")
    expect(page.locator("main")).to_contain_text("fairtrial sessions sync")
    page.goto(f"{server.url}/sessions?where=nonsense+%3D")
    expect(page.get_by_role("alert")).to_contain_text("column")
