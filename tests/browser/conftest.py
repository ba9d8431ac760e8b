"""One browser for all tests, and what it saw kept as pictures when asked: `PICTURES=1 pytest`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.http.conftest import bench, server

from fairtrial.cli.main import main

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


Loop = asyncio.AbstractEventLoop


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, Loop]]:
    """Chromium of the system, and the loop that talks to it, which waits in this thread."""
    if not CHROMIUM.exists():
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_FLAGS))
        loop = asyncio.get_running_loop()
        with _another_loop_may_run(loop):
            yield browser, loop
        browser.close()


@contextmanager
def _another_loop_may_run(loop: Loop) -> Iterator[None]:
    """Hide a loop that counts as running in this thread though nothing of it runs.

    Playwright's waits in a coroutine between two calls; Python would let no other loop begin.
    """
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)


@pytest.fixture
def browser(chromium: tuple[Browser, Loop]) -> Iterator[Browser]:
    """The browser, for the time of a test."""
    browser, loop = chromium
    asyncio._set_running_loop(loop)
    try:
        yield browser
    finally:
        asyncio._set_running_loop(None)


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
    """Run a command in this process, though the browser's loop may wait in it."""
    loop = asyncio._get_running_loop()
    if loop is None:
        return main(list(words))
    with _another_loop_may_run(loop):
        return main(list(words))


Picture = Callable[[Page, str], None]


@pytest.fixture
def picture() -> Picture:
    """Keeps what a page looks like, when asked: light, dark and on a narrow screen."""
    wanted = bool(os.environ.get("PICTURES"))

    def keep(page: Page, name: str) -> None:
        if not wanted:
            return
        PICTURES.mkdir(exist_ok=True)
        for look, how in LOOKS.items():
            page.emulate_media(color_scheme="dark" if how["color_scheme"] == "dark" else "light")
            size = how["viewport"]
            assert isinstance(size, dict)
            page.set_viewport_size({"width": size["width"], "height": size["height"]})
            page.screenshot(path=PICTURES / f"{name}-{look}.png", animations="disabled")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 1440, "height": 900})

    return keep
