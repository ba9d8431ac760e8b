"""`exp ab` tries no edit of a protected line, unless it is allowed by its name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import Command

MARK = "<!-- fairtrial: protected -->"
RULES = f"# Rules\n\n- Keep changes small.\n- Never push. {MARK}\n"


def git(repo: Path, *words: str) -> None:
    who = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a protected line and no sessions, that is gone into."""
    del folder
    path = tmp_path / "shop"
    path.mkdir()
    git(path, "init", "-qb", "main")
    (path / "AGENTS.md").write_text(RULES, encoding="utf-8")
    git(path, "add", "-A")
    git(path, "commit", "-qm", "Begin")
    monkeypatch.chdir(path)
    return path


def test_an_edit_of_a_protected_line_is_refused_before_anything_is_looked_at(
    repo: Path, fairtrial: Command
) -> None:
    (repo / "AGENTS.md").write_text(RULES.replace("Never push", "Avoid pushing"))
    refused = fairtrial("exp", "ab")
    assert refused.code == 77
    assert "the edit touches 1 protected line" in refused.err
    assert "AGENTS.md:4 is relaxed (never became avoid)" in refused.err
    assert "--allow-protected-edit AGENTS.md:4" in refused.err
    assert fairtrial("exp", "ab", "--dry-run").code == 77
    assert fairtrial("exp", "ab", "--allow-protected-edit", "AGENTS.md:3").code == 77
    assert fairtrial("exp", "ab", "--allow-protected-edit", "AGENTS.md").code == 64
    allowed = fairtrial("exp", "ab", "--allow-protected-edit", "AGENTS.md:4")
    assert allowed.code == 66, "it goes on to the decisions, and there are none"


def test_a_list_in_the_configuration_protects_too(repo: Path, fairtrial: Command) -> None:
    (repo / "fairtrial.toml").write_text('protected = ["AGENTS.md:changes small"]\n')
    (repo / "AGENTS.md").write_text(RULES.replace("- Keep changes small.\n", ""))
    refused = fairtrial("exp", "ab")
    assert refused.code == 77
    assert "AGENTS.md:3 is deleted: 'Keep changes small.'" in refused.err
