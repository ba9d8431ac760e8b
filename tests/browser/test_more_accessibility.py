"""Comparisons, sessions, trends and datasets are held against the rules of WCAG 2 AA."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.browser.conftest import fairtrial
from tests.browser.test_accessibility import RULES
from tests.http.conftest import Server
from tests.sessions.transcripts import Claude

ROW = "row=%5B%22pear%22,%22default%22,%22main%22%5D"
PLACES = (
    "/compare?a=one&b=two&gate=1",
    f"/compare?a=one&b=two&{ROW}",
    "/side-by-side?ids=one,two",
    f"/side-by-side?ids=one,two&{ROW}",
    "/sessions",
    "/sessions/latest",
    "/sessions?where=nonsense+%3D",
    "/trend",
    "/trend?series=loop",
    "/datasets",
    "/datasets/fruit",
)


@pytest.fixture
def everything(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two experiments of a series, and a flagged session."""
    cases = [{"id": n, "input": n, "expected": n, "tags": ["t"]} for n in ("apple", "pear")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    fairtrial("dataset", "add", "fruit", "cases.jsonl")
    for name, text in (("one", "apple"), ("two", "a pear")):
        task = {"kind": "command", "command": ["echo", text]}
        graders = ["contains", {"kind": "regex", "pattern": "a", "name": "a"}]
        (folder / "spec.json").write_text(
            json.dumps({"dataset": "fruit", "task": task, "graders": graders})
        )
        fairtrial("exp", "run", "spec.json", "--name", name, "--series", "loop")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    claude = Claude()
    claude.prompt("Fix the cart.")
    claude.ran("c1", "python -m pytest -q", "1 failed in 0.1s " + "x" * 2_000, code=1)
    claude.next_message()
    claude.said("Done! All tests pass.")
    claude.write(tmp_path / "claude")
    fairtrial("sessions", "sync")


@pytest.mark.usefixtures("everything")
def test_no_rule_is_broken(server: Server, page: Page) -> None:
    broken = []
    for scheme, width in (("light", 1440), ("dark", 1440), ("light", 400), ("dark", 400)):
        page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
        )
        page.set_viewport_size({"width": width, "height": 900})
        for place in PLACES:
            page.goto(server.url + place)
            found = Axe().run(page, options=RULES).response["violations"]
            broken += [
                f"{place} {scheme} {width}: {one['id']}: {node['html'][:200]}"
                for one in found
                for node in one["nodes"]
            ]
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                broken.append(f"{place} needs {wide} of {width} pixels")
    assert broken == []
