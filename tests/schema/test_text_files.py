"""Texts in files: what is none is refused at once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fairtrial.app.spec_files import read_document
from fairtrial.model.errors import UsageError
from fairtrial.pricing.overrides import read_overrides
from fairtrial.schema.text_files import text_given


def test_a_pipe_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    for name in ("pipe.md", "pipe.json"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError, match="pipe or a device"):
        text_given("@pipe.md", tmp_path, "option")
    with pytest.raises(UsageError, match="pipe or a device"):
        read_document(tmp_path / "pipe.json")
    with pytest.raises(UsageError, match="pipe or a device"):
        read_overrides(tmp_path / "pipe.json")


def test_a_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pipe or a device"):
        text_given("@/dev/zero", tmp_path, "option")
