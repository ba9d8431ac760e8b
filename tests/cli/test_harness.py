"""`harness show`, `diff` and `save`, as one types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.sessions.start_state.repo import Repo, repo_in


@pytest.fixture
def repo(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository that the commands run in."""
    repo = repo_in(folder / "shop")
    repo.write("CLAUDE.md", "Be kind. @docs/style.md\n<!-- for people -->\n")
    repo.write("docs/style.md", "Tabs.\n")
    repo.write("AGENTS.md", "Be strict.\n")
    repo.write("api/AGENTS.md", "Of the API.\n")
    repo.write(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: Does x\n---\n")
    repo.commit()
    monkeypatch.chdir(repo.root)
    return repo


@pytest.mark.usefixtures("repo")
def test_files_and_what_each_agent_is_told(fairtrial: Command) -> None:
    done = fairtrial("harness", "show", "--cwd", "api")
    assert done.code == 0
    assert "the current files of shop: 5 files" in done.out
    assert "docs/style.md              imported" in done.out
    assert "claude-code, started in api, is told about 6 tokens" in done.out
    assert "  lists x: Does x" in done.out
    assert "  2. api/AGENTS.md  12 bytes, about 3 tokens" in done.out


@pytest.mark.usefixtures("repo")
def test_the_texts_as_an_agent_is_told_them(fairtrial: Command) -> None:
    done = fairtrial("harness", "show", "--agent", "claude-code")
    assert "    Be kind. @docs/style.md\n  2. docs/style.md" in done.out
    assert "for people" not in done.out
    assert "codex" not in done.out
    found = json.loads(fairtrial("harness", "show", "--agent", "codex", "--json").out)
    assert [one["text"] for one in found["told"][0]["texts"]] == ["Be strict.\n"]


def test_the_folder_is_the_one_that_one_is_in(
    repo: Repo, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.root / "api")
    found = json.loads(fairtrial("harness", "show", "--json").out)
    assert found["cwd"] == "api"
    outside = fairtrial("harness", "show", "--cwd", "../..")
    assert (outside.code, "is outside of the repository" in outside.err) == (64, True)


def test_a_conflict_is_shown_and_not_compared_away(repo: Repo, fairtrial: Command) -> None:
    repo.write("AGENTS.md", "<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n")
    done = fairtrial("harness", "show")
    assert "AGENTS.md has a merge conflict at line 1" in done.out


def test_the_edit_that_would_be_tried(repo: Repo, fairtrial: Command) -> None:
    repo.write("AGENTS.md", "Be strict.\nRun the tests.\n")
    done = fairtrial("harness", "diff")
    assert done.code == 0
    assert "B your uncommitted edits: AGENTS.md" in done.out
    assert done.out.endswith("@@ -1 +1,2 @@\n Be strict.\n+Run the tests.\n")
    found = json.loads(fairtrial("harness", "diff", "git:HEAD", "none", "--json").out)
    assert {change["kind"] for change in found["changes"]} == {"removed"}
    same = fairtrial("harness", "diff", "git:HEAD", "git:HEAD")
    assert (same.code, "They are the same." in same.out) == (0, True)


def test_what_was_saved_is_a_harness_again(repo: Repo, fairtrial: Command) -> None:
    saved = fairtrial("harness", "save", "kept.json")
    assert (saved.code, "the current files of shop, 5 files" in saved.out) == (0, True)
    repo.write("AGENTS.md", "Other.\n")
    found: dict[str, Any] = json.loads(fairtrial("harness", "diff", "kept.json", "--json").out)
    assert [change["path"] for change in found["changes"]] == ["AGENTS.md"]
    again = fairtrial("harness", "save", "kept.json", "--from", "git:HEAD", "--json")
    assert json.loads(again.out)["digest"] == found["a"]["digest"]


def test_secrets_are_taken_out_of_what_is_saved(repo: Repo, fairtrial: Command) -> None:
    key = "sk-" + "ant-api03-" + "x7Kq" * 20
    repo.write("AGENTS.md", f"The key is {key} here.\n")
    repo.write("CLAUDE.local.md", "mine\n")
    done = fairtrial("harness", "save", "kept.json")
    assert "AGENTS.md held secrets by their look (1); they were taken out" in done.out
    assert "CLAUDE.local.md is your own, and is in the file" in done.out
    assert key not in (repo.root / "kept.json").read_text()
    assert key in (repo.root / "AGENTS.md").read_text()


def test_a_file_that_is_no_saved_harness_is_not_written_over(
    repo: Repo, fairtrial: Command
) -> None:
    done = fairtrial("harness", "save", "AGENTS.md")
    assert (done.code, "is no saved harness" in done.err) == (64, True)
    assert (repo.root / "AGENTS.md").read_text() == "Be strict.\n"
    done = fairtrial("harness", "save", "gone/kept.json")
    assert (done.code, "cannot be written" in done.err) == (64, True)
    done = fairtrial("harness", "save", "kept.json", "--from", "none")
    assert (done.code, "there is nothing to save" in done.err) == (64, True)


def test_without_a_repository_it_says_what_to_do(
    tmp_path: Path, fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = fairtrial("harness", "show")
    assert done.code == 64
    assert "there is no git repository around" in done.err
    (tmp_path / "house").mkdir()
    (tmp_path / "house/AGENTS.md").write_text("x\n")
    done = fairtrial("harness", "show", "house", "--agent", "codex", "--cwd", "sub")
    assert (done.code, "started in sub, is told about 1 token" in done.out) == (0, True)


@pytest.mark.usefixtures("repo")
def test_a_hostile_path_cannot_steer_the_terminal(repo: Repo, fairtrial: Command) -> None:
    repo.write(".claude/rules/a\x1b[31m.md", "x\x1b[31m\n")
    for words in (("show",), ("show", "--agent", "claude-code"), ("diff",)):
        done = fairtrial("harness", *words)
        assert done.code == 0
        assert "\x1b" not in done.out
