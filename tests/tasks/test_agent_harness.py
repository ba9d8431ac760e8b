"""The instructions of an arm: read once, kept as texts, put over the workspace's."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.tasks.agent_harness import harness_files, settled_harness


def test_a_file_keeps_its_name(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "AGENTS.md").write_text("one")
    assert settled_harness("sub/AGENTS.md", tmp_path, "t") == {"AGENTS.md": "one"}


def test_a_folder_gives_all_its_files(tmp_path: Path) -> None:
    for name in ("AGENTS.md", ".claude/rules/a.md", ".git/config"):
        (tmp_path / "h" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "h" / name).write_text(name)
    assert settled_harness("h", tmp_path, "t") == {
        ".claude/rules/a.md": ".claude/rules/a.md",
        "AGENTS.md": "AGENTS.md",
    }


def test_texts_and_files_may_be_named_by_their_paths(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("@import")
    given = {"AGENTS.md": "@x.md", "b.md": "plain", "c.md": "@@mark"}
    settled = settled_harness(given, tmp_path, "t")
    assert harness_files(settled) == {"AGENTS.md": b"@import", "b.md": b"plain", "c.md": b"@mark"}
    (tmp_path / "x.md").unlink()
    assert settled_harness(settled, tmp_path, "t") == settled


def test_none_is_none(tmp_path: Path) -> None:
    assert settled_harness(None, tmp_path, "t") is None
    assert harness_files(None) == {}


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    with pytest.raises(UsageError, match="there is no file in"):
        settled_harness("h", tmp_path, "t")
