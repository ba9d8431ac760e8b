"""What belongs to a harness, of a working tree, a commit and a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.harness.conftest import ENVIRON
from tests.sessions.start_state.repo import Repo

from fairtrial.harness import gathering
from fairtrial.harness.belonging import Part, part_of
from fairtrial.harness.sources import Place, read_harness
from fairtrial.harness.trees import LONGEST
from fairtrial.model.errors import FairtrialError, UsageError

Look = Callable[[], Place]


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("CLAUDE.md", Part.INSTRUCTIONS),
        ("a/b/AGENTS.override.md", Part.INSTRUCTIONS),
        (".claude/CLAUDE.md", Part.INSTRUCTIONS),
        ("a/.claude/rules/b/c.md", Part.RULE),
        (".claude/skills/x/scripts/run.py", Part.SKILL),
        (".agents/skills/x/SKILL.md", Part.SKILL),
        (".claude/agents/x/y.md", Part.AGENT),
        (".codex/agents/y.toml", Part.AGENT),
        (".gemini/commands/a/b.toml", Part.COMMAND),
        ("CLAUDE.md.bak", None),
        ("docs/my-AGENTS.md", None),
        ("agents.md", None),
        (".claude/settings.json", None),
        (".claude/settings.local.json", None),
        (".codex/config.toml", None),
        (".claude/rules/x.txt", None),
        (".claude/skills/x/.env", None),
        (".claude/skills/x/server.pem", None),
        ("node_modules/pkg/AGENTS.md", None),
        (".venv/lib/CLAUDE.md", None),
        ("AGENTS.md\n", None),
        ("README.md", None),
    ],
)
def test_what_belongs_is_told_by_its_path(path: str, part: Part | None) -> None:
    assert part_of(path) is part


def test_the_working_tree_and_a_commit_of_it_have_the_same_harness(repo: Repo, place: Look) -> None:
    repo.write("CLAUDE.md", "@docs/a.md and `@docs/b.md`\n")
    repo.write("docs/a.md", "A @deeper/c.md\n")
    repo.write("docs/b.md", "B\n")
    repo.write("docs/deeper/c.md", "C @../a.md\n")
    repo.write(".claude/skills/x/SKILL.md", "---\ndescription: x\n---\n")
    repo.write(".claude/skills/x/run.sh", "echo\n")
    repo.write(".claude/settings.json", "{}")
    repo.write("src/main.py", "")
    repo.commit()
    now, then = place().current().harness, place().at("HEAD").harness
    assert list(now.files) == [
        ".claude/skills/x/SKILL.md",
        ".claude/skills/x/run.sh",
        "CLAUDE.md",
        "docs/a.md",
        "docs/deeper/c.md",
    ]
    assert now.files == then.files
    assert now.digest == then.digest


def test_links_have_the_text_that_they_lead_to(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    (repo.root / "CLAUDE.md").symlink_to("AGENTS.md")
    (repo.root / ".claude").mkdir()
    repo.write("shared/rules/a.md", "rule\n")
    (repo.root / ".claude/rules").symlink_to("../shared/rules")
    repo.commit()
    for found in (place().current().harness, place().at("HEAD").harness):
        assert found.files == {
            ".claude/rules/a.md": "rule\n",
            "AGENTS.md": "one\n",
            "CLAUDE.md": "one\n",
        }
        assert found.links == {".claude/rules/a.md": "shared/rules/a.md", "CLAUDE.md": "AGENTS.md"}


def test_a_link_that_leads_out_is_left_out_and_told_of(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (repo.root / "AGENTS.md").symlink_to("../secret.md")
    (repo.root / "CLAUDE.md").symlink_to(tmp_path / "secret.md")
    repo.write("GEMINI.md", "@docs/x.md @../secret.md\n")
    (repo.root / "docs").symlink_to(tmp_path)
    repo.write("sub/AGENTS.md", "loop\n")
    (repo.root / "sub/CLAUDE.md").symlink_to("CLAUDE.md")
    repo.commit()
    for found in (place().current().harness, place().at("HEAD").harness):
        assert dict(found.files) == {"GEMINI.md": "@docs/x.md @../secret.md\n"} | {
            "sub/AGENTS.md": "loop\n"
        }
        assert "AGENTS.md leads out of the repository; it was left out" in found.notes


def test_what_git_ignores_is_left_out_but_private_instructions_and_imports_are_not(
    repo: Repo, place: Look
) -> None:
    repo.write(".gitignore", "*.local.md\n.claude/skills/own\nnotes/\n")
    repo.write("CLAUDE.md", "@notes/mine.md\n")
    repo.write("CLAUDE.local.md", "mine\n")
    repo.write("src/a.py", "")
    repo.write("src/CLAUDE.local.md", "of src\n")
    repo.write("notes/mine.md", "note\n")
    repo.write(".claude/skills/own/SKILL.md", "x")
    repo.commit()
    found = place().current()
    assert list(found.harness.files) == [
        *("CLAUDE.local.md", "CLAUDE.md", "notes/mine.md", "src/CLAUDE.local.md")
    ]
    assert found.private == {"CLAUDE.local.md", "notes/mine.md", "src/CLAUDE.local.md"}


def test_bytes_that_are_no_text_are_left_out_or_read_as_agents_do(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", b"\xef\xbb\xbfone\r\ntwo \xff\rthree\n")
    repo.write(".claude/skills/x/logo.png", b"\x89PNG\0\0")
    repo.write(".claude/skills/x/big.txt", b"x" * (LONGEST + 1))
    found = place().current().harness
    assert found.files == {"AGENTS.md": "one\ntwo \ufffd\rthree\n"}
    assert found.notes == (
        f".claude/skills/x/big.txt has over {LONGEST:,} bytes; it was left out",
        ".claude/skills/x/logo.png is no text; it was left out",
        "AGENTS.md is not UTF-8; what cannot be read is U+FFFD, as for the agent",
    )


def test_a_checkout_with_other_line_ends_is_no_edit(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\ntwo\n")
    repo.commit()
    repo.git("config", "core.autocrlf", "true")
    repo.write("AGENTS.md", "one\r\ntwo\r\n")
    assert place().current().harness.digest == place().at("HEAD").harness.digest


def test_submodules_and_repositories_within_have_harnesses_of_their_own(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    inner = Repo(other)
    inner.git("init", "-q")
    inner.write("AGENTS.md", "of the other\n")
    inner.commit()
    repo.write("AGENTS.md", "ours\n")
    repo.git("submodule", "add", "-q", str(other), "lib")
    repo.commit()
    nested = Repo(repo.root / "nested")
    nested.root.mkdir()
    nested.git("init", "-q")
    nested.write("CLAUDE.md", "nested\n")
    assert place().current().harness.files == {"AGENTS.md": "ours\n"}
    assert place().at("HEAD").harness.files == {"AGENTS.md": "ours\n"}
    assert Place(repo.root / "lib", ENVIRON).current().harness.files == {
        "AGENTS.md": "of the other\n"
    }


def test_a_worktree_and_a_folder_below_the_root_are_of_their_repository(
    repo: Repo, tmp_path: Path
) -> None:
    repo.write("AGENTS.md", "main\n")
    repo.write("src/a.py", "")
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "tree/AGENTS.md").write_text("other\n")
    here = Place(tmp_path / "tree/src", ENVIRON)
    assert here.current().harness.files == {"AGENTS.md": "other\n"}
    assert here.at("main").harness.files == {"AGENTS.md": "main\n"}


def test_what_a_sparse_checkout_leaves_out_is_there(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "root\n")
    repo.write("far/AGENTS.md", "far\n")
    repo.write("near/x", "")
    repo.commit()
    repo.git("sparse-checkout", "set", "near")
    assert not (repo.root / "far").exists()
    assert dict(place().current().harness.files) == {
        "AGENTS.md": "root\n",
        "far/AGENTS.md": "far\n",
    }


def test_a_deleted_file_is_gone_and_one_with_a_colon_is_a_file(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "root\n")
    repo.write("a:b/CLAUDE.md", "colon\n")
    repo.write(".claude/rules/git:x\ny.md", "odd\n")
    repo.commit()
    (repo.root / "AGENTS.md").unlink()
    files = {"a:b/CLAUDE.md": "colon\n", ".claude/rules/git:x\ny.md": "odd\n"}
    assert dict(place().current().harness.files) == files
    assert dict(place().at("HEAD").harness.files) == files | {"AGENTS.md": "root\n"}


def test_a_name_in_other_letters_is_another_file(repo: Repo, place: Look) -> None:
    repo.write("Agents.md", "no agent reads it\n")
    repo.commit()
    (repo.root / "Agents.md").rename(repo.root / "AGENTS.md")
    assert dict(place().at("HEAD").harness.files) == {}
    assert list(place().current().harness.files) == ["AGENTS.md"]


def test_too_many_files_are_refused_with_the_folder_that_has_them(
    repo: Repo, place: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MOST_FILES", 3)
    for number in range(4):
        repo.write(f".claude/skills/x/data/{number}.txt", "")
    with pytest.raises(UsageError, match="4 files belong to the harness, over 3") as caught:
        place().current()
    assert ".claude/skills/x/data" in (caught.value.fix or "")


def test_too_many_bytes_are_refused(
    repo: Repo, place: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MOST_BYTES", 10)
    repo.write("AGENTS.md", "x" * 11)
    with pytest.raises(UsageError, match="over 10 bytes"):
        place().current()


def test_instructions_that_are_too_long_are_refused(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "x" * (LONGEST + 1))
    with pytest.raises(UsageError, match=r"AGENTS\.md has over"):
        place().current()


def test_a_file_that_cannot_be_read_is_named(repo: Repo, place: Look) -> None:
    path = repo.write("AGENTS.md", "x")
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        with pytest.raises(FairtrialError, match=r"AGENTS\.md cannot be read"):
            place().current()
    else:
        pytest.skip("needs a user whom permissions bind")


def test_a_folder_that_is_no_repository_is_walked(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "sub/CLAUDE.md", "node_modules/x/AGENTS.md", "CLAUDE.local.md"):
        path = tmp_path / "drafts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    found = read_harness("drafts", Place(tmp_path, ENVIRON))
    assert list(found.files) == ["AGENTS.md", "CLAUDE.local.md", "sub/CLAUDE.md"]
    assert found.label == "the folder drafts"
