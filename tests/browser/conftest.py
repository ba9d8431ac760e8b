"""One browser for the tests of a module, and what it saw kept as pictures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.http.conftest import bench, server

__all__ = ["bench", "server"]

CHROMIUM = Path("/usr/bin/chromium")
PICTURES = Path(__file__).resolve().parents[2] / ".screenshots"
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOOKS = {
    "light": {"color_scheme": "light", "viewport": {"width": 1440, "height": 900}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1440, "height": 900}},
    "narrow": {"color_scheme": "light", "viewport": {"width": 400, "height": 860}},
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the system.

    Not one for the whole session: while it lives, its loop runs in this thread, and tests elsewhere
    could run none of their own.
    """
    if not CHROMIUM.exists():
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A window without a past. Nothing of a page may complain, or reach for another host."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page whose console stays empty, and that asks nobody but the server."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda told: complaints.append(told.text) if told.type in ("error", "warning") else None,
    )
    page.on(
        "request",
        lambda asked: (
            None
            if asked.url.startswith(("http://127.0.0.1:", "data:"))
            else complaints.append(asked.url)
        ),
    )
    yield page
    # What a refused request says of itself is no complaint of the page.
    assert [one for one in complaints if "Failed to load resource" not in one] == []


def fairtrial(*words: str) -> int:
    """Run a command. A process of its own: a loop, the browser's, runs in this one already."""
    return subprocess.run([sys.executable, "-m", "fairtrial", *words], check=False).returncode


Picture = Callable[[Page, str], None]


@pytest.fixture
def picture() -> Picture:
    """Keeps what a page looks like: light, dark and on a narrow screen."""
    PICTURES.mkdir(exist_ok=True)

    def keep(page: Page, name: str) -> None:
        for look, how in LOOKS.items():
            page.emulate_media(color_scheme="dark" if how["color_scheme"] == "dark" else "light")
            size = how["viewport"]
            assert isinstance(size, dict)
            page.set_viewport_size({"width": size["width"], "height": size["height"]})
            page.screenshot(path=PICTURES / f"{name}-{look}.png", animations="disabled")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1440, "height": 900})

    return keep
