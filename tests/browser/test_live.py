"""A running experiment of another process, in a browser."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Picture, fairtrial
from tests.http.conftest import PATIENCE_S, Server

PROGRAM = """
import json, pathlib, sys, time
case = json.loads(sys.stdin.read())
while not pathlib.Path(f"go-{case}").exists():
    time.sleep(0.05)
print(case)
"""


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run an experiment of three cases elsewhere; each waits for its file `go-N`."""
    cases = [{"id": f"c{n}", "input": str(n), "expected": str(n)} for n in range(3)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    assert fairtrial("dataset", "add", "d", "cases.jsonl") == 0
    (folder / "agent.py").write_text(PROGRAM)
    spec = {
        "dataset": "d",
        "task": {"kind": "command", "command": [sys.executable, "agent.py"]},
        "graders": ["contains"],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    command = [sys.executable, "-m", "fairtrial", "exp", "run", "spec.json", "--name", "long"]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            for n in range(3):
                (folder / f"go-{n}").touch()
            try:
                process.wait(PATIENCE_S)
            finally:
                process.kill()


def wait_for_it(server: Server) -> None:
    """Wait until the experiment is in the list."""
    for _ in range(10 * PATIENCE_S):
        if b"Running" in server.ask("/experiments", headers={"accept": "text/html"}).body:
            return
        time.sleep(0.1)
    pytest.fail("the experiment never began")


def test_the_page_follows_a_run_of_another_process(
    server: Server, folder: Path, page: Page, picture: Picture
) -> None:
    page.goto(f"{server.url}/experiments")
    expect(page.locator("main")).to_contain_text("No experiment yet")
    with running(folder) as process:
        wait_for_it(server)
        page.get_by_role("link", name="There are new experiments").click()
        expect(page.locator("[data-row]")).to_contain_text("Running")
        page.locator("[data-open-row]").click()
        expect(page.locator(".testing")).to_contain_text("0 of 3")
        page.evaluate("window.stays = true")
        (folder / "go-0").touch()
        expect(page.locator(".testing")).to_contain_text("1 of 3")
        expect(page.locator("[data-row]")).to_have_count(1)
        page.keyboard.press("j")
        expect(page.locator(".at [data-open-row]")).to_be_focused()
        picture(page, "live")
        expect(page.locator("[data-live-news]")).to_contain_text("30 % of the trials")
        for n in (1, 2):
            (folder / f"go-{n}").touch()
        expect(page.locator(".testing")).to_have_count(0)
        expect(page.locator("[data-row]")).to_have_count(3)
        # Whoever reads with the keyboard is where they were.
        expect(page.locator(".at [data-open-row]")).to_have_text("c0")
        expect(page.locator(".at [data-open-row]")).to_be_focused()
        expect(page.locator("h1")).to_contain_text("Done")
        expect(page.locator("[data-live-news]")).to_contain_text("is finished")
        assert page.evaluate("window.stays") is True
        assert process.wait(PATIENCE_S) == 0
