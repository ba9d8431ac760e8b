"""Pages are held against the rules of WCAG 2 AA, light and dark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from tests.browser.conftest import fairtrial
from tests.http.conftest import Server

from fairtrial.app.bench import bench_here
from fairtrial.app.row_actions import send_to_review, settle_review
from fairtrial.model.review import Opinion

RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
ROW = '?row=["pear","default","main"]'


@pytest.fixture
def experiment(folder: Path) -> str:
    """The name of an experiment with a failed row, tags and a gate."""
    cases = [{"id": n, "input": n, "expected": "apple", "tags": ["t"]} for n in ("apple", "pear")]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    fairtrial("dataset", "add", "fruit", "cases.jsonl")
    spec = {
        "dataset": "fruit",
        "task": {"kind": "command", "command": ["cat"]},
        "graders": ["contains"],
        "gate": [{"every_row": {"passed": {"at_least": 1}}}, {"pass_rate": {"at_least": 0.1}}],
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    fairtrial("exp", "run", "spec.json", "--name", "one")
    for case in ("apple", "pear"):
        item = send_to_review(bench_here(), "one", (case, "default", "main"))
        if case == "pear":
            settle_review(bench_here(), item.id, Opinion.FAILED, "it is a pear")
    return "one"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 400])
def test_no_rule_is_broken(
    server: Server, experiment: str, page: Page, scheme: str, width: int
) -> None:
    page.emulate_media(
        color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
    )
    page.set_viewport_size({"width": width, "height": 900})
    places = (
        "/experiments",
        "/experiments?where=scroe+%3C+1",
        f"/experiments/{experiment}",
        f"/experiments/{experiment}{ROW}",
        "/review",
        "/review?show=settled",
        "/gate",
        "/nothing",
    )
    broken = []
    for place in places:
        page.goto(server.url + place)
        found = Axe().run(page, options=RULES).response
        assert len(found["passes"]) > 10, "the rules were not looked at"
        broken += [
            f"{place}: {one['id']}: {node['html'][:200]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]
    assert broken == []


def test_it_needs_no_sideways_scrolling_at_400_pixels(
    server: Server, experiment: str, page: Page
) -> None:
    page.set_viewport_size({"width": 400, "height": 860})
    one = f"/experiments/{experiment}"
    for place in ("/experiments", one, one + ROW, "/review", "/review?show=settled", "/gate"):
        page.goto(server.url + place)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 400, place
