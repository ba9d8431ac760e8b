"""A lab for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.providers.subscription.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    # Short, as a socket's path must be: else Claude Code makes a folder for it beside.
    with tempfile.TemporaryDirectory(prefix="lab-") as tmp:
        yield Lab(tmp_path, Path(tmp))
