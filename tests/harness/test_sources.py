"""Harnesses by what a user gives: a file, a folder, a commit, a bundle, none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.harness.conftest import ENVIRON
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.bundle import bundle_text
from fairtrial.harness.sources import Place, read_harness
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.harness import Harness

Look = Callable[[], Place]


def test_a_file_takes_the_place_of_its_own_path(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "root\n")
    repo.write("sub/AGENTS.md", "sub\n")
    repo.commit()
    repo.write("sub/AGENTS.md", "changed\n")
    found = read_harness("sub/AGENTS.md", place(), base=place().at("HEAD").harness)
    assert found.files == {"AGENTS.md": "root\n", "sub/AGENTS.md": "changed\n"}
    assert found.label == "sub/AGENTS.md in git:HEAD"


def test_a_draft_takes_the_place_of_the_file_of_its_name(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    repo.write("AGENTS.md", "root\n")
    repo.write("sub/AGENTS.md", "sub\n")
    repo.write(".claude/skills/a/SKILL.md", "a\n")
    repo.write(".claude/skills/b/SKILL.md", "b\n")
    repo.commit()
    # Within the repository and outside of it; a draft of one skill is told by its folder.
    repo.write("drafts/AGENTS.md", "draft\n")
    assert read_harness("drafts/AGENTS.md", place()).files["AGENTS.md"] == "draft\n"
    (tmp_path / "AGENTS.md").write_text("outside\n")
    assert read_harness("../AGENTS.md", place()).files["AGENTS.md"] == "outside\n"
    (tmp_path / "b").mkdir()
    (tmp_path / "b/SKILL.md").write_text("better\n")
    found = read_harness(str(tmp_path / "b/SKILL.md"), place()).files
    assert (found[".claude/skills/a/SKILL.md"], found[".claude/skills/b/SKILL.md"]) == (
        *("a\n", "better\n"),
    )


def test_a_file_that_may_stand_for_several_is_refused(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    repo.write("one/GEMINI.md", "1\n")
    repo.write("two/GEMINI.md", "2\n")
    repo.commit()
    (tmp_path / "GEMINI.md").write_text("3\n")
    with pytest.raises(UsageError, match=r"may stand for one/GEMINI\.md, two/GEMINI\.md"):
        read_harness("../GEMINI.md", place())


def test_a_new_file_is_added_where_an_agent_reads_it(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    repo.write("AGENTS.md", "root\n")
    repo.commit()
    base = place().current().harness
    repo.write(".claude/rules/new.md", "rule\n")
    found = read_harness(".claude/rules/new.md", place(), base=base)
    assert list(found.files) == [".claude/rules/new.md", "AGENTS.md"]
    (tmp_path / "CLAUDE.md").write_text("c\n")
    assert "CLAUDE.md" in read_harness("../CLAUDE.md", place(), base=base).files
    (tmp_path / "ideas.md").write_text("c\n")
    with pytest.raises(UsageError, match=r"no file of the harness is called ideas\.md"):
        read_harness("../ideas.md", place(), base=base)


def test_a_file_changes_what_links_to_it(repo: Repo, place: Look, tmp_path: Path) -> None:
    repo.write("AGENTS.md", "one\n")
    (repo.root / "CLAUDE.md").symlink_to("AGENTS.md")
    repo.commit()
    for name in ("AGENTS.md", "CLAUDE.md"):
        (tmp_path / name).write_text("two\n")
        found = read_harness(f"../{name}", place())
        assert found.files == {"AGENTS.md": "two\n", "CLAUDE.md": "two\n"}


def test_a_commit_is_read_without_checking_it_out(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    first = repo.commit()
    repo.write("AGENTS.md", "two\n")
    repo.commit()
    repo.git("tag", "v2")
    for name, text in ((first, "one\n"), ("HEAD~1", "one\n"), ("main", "two\n"), ("v2", "two\n")):
        found = read_harness(f"git:{name}", place())
        assert (found.files["AGENTS.md"], found.label) == (text, f"git:{name}")
    assert (repo.root / "AGENTS.md").read_text() == "two\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("git:", "git: names no commit"),
        ("git:HEAD:AGENTS.md", "names no commit, but a path in one"),
        ("git:nowhere", "there is no commit 'nowhere'"),
        ("git:--help", "there is no commit '--help'"),
        ("git:HEAD\0", "there is no commit"),
        ("gone.md", r"there is no gone\.md"),
        ("a\0b", "there is no a"),
        ("~nobody-of-this-name/x", "cannot be looked for|there is no"),
        ("binary.md", r"binary\.md is no text"),
        ("empty", "nothing in empty belongs to a harness"),
    ],
)
def test_what_is_no_harness_is_told(repo: Repo, place: Look, given: str, said: str) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.write("binary.md", b"\0")
    (repo.root / "empty").mkdir()
    with pytest.raises((UsageError, NotFoundError), match=said):
        read_harness(given, place())


@pytest.mark.parametrize("given", ["", " "])
def test_an_empty_name_is_not_the_current_folder(place: Look, given: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        read_harness(given, place())


def test_a_folder_beside_the_repository_is_not_in_it(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "old\n")
    repo.commit()
    draft = repo.root.parent / "drafts" / "AGENTS.md"
    draft.parent.mkdir()
    draft.write_text("new\n")
    assert read_harness("../drafts", place()).files == {"AGENTS.md": "new\n"}


def test_none_is_empty_and_needs_no_repository(tmp_path: Path) -> None:
    assert read_harness("none", Place(tmp_path, ENVIRON)).files == {}


def test_a_bundle_is_known_by_what_it_holds(repo: Repo, place: Look, tmp_path: Path) -> None:
    repo.write("AGENTS.md", "one\n")
    (repo.root / "CLAUDE.md").symlink_to("AGENTS.md")
    repo.commit()
    saved = place().current().harness
    (tmp_path / "kept").write_text(bundle_text(saved))
    repo.write("AGENTS.md", "two\n")
    found = read_harness("../kept", place())
    assert (found.files, found.links, found.digest) == (saved.files, saved.links, saved.digest)
    assert found.label == "the bundle kept"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"fairtrial": "harness/9", "files": {}}', "of a version"),
        ('{"fairtrial": "harness/1", "files": {', "is no JSON"),
        ('{"fairtrial": "harness/1"}', "'files' of the bundle must be"),
        ('{"fairtrial": "harness/1", "files": {"a": 1}}', "'files' of the bundle must be"),
        ('{"fairtrial": "harness/1", "files": {"../x": ""}}', "no path in a repository"),
        ('{"fairtrial": "harness/1", "files": {"/x": ""}}', "no path in a repository"),
        ('{"fairtrial": "harness/1", "files": {".git/config": ""}}', "no path in a repository"),
        ('{"fairtrial": "harness/1", "files": {"sub/.GIT/x": ""}}', "no path in a repository"),
        (r'{"fairtrial": "harness/1", "files": {"AGENTS.md": "\ud800"}}', "no text in 'AGENTS.md'"),
        (r'{"fairtrial": "harness/1", "files": {"AGENTS.md": "\u0000"}}', "no text in 'AGENTS.md'"),
        (r'{"fairtrial": "harness/1", "files": {"\udcff/AGENTS.md": "x"}}', "has what is no text"),
        ('{"fairtrial": "harness/1", "digest": "0", "files": {"AGENTS.md": ""}}', "not those that"),
    ],
)
def test_a_bundle_that_does_not_fit_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(UsageError, match=said):
        read_harness("b.json", Place(tmp_path, ENVIRON))


def test_a_bundle_of_another_repository_is_refused(repo: Repo, place: Look, tmp_path: Path) -> None:
    other = Harness({"services/pay/AGENTS.md": "x\n"}, "there")
    (tmp_path / "other.json").write_text(bundle_text(other))
    # Where nothing is known of the repository, its folders tell.
    with pytest.raises(UsageError, match="of another repository: shop has none of its files"):
        read_harness("../other.json", place())
    repo.write("services/pay/main.py", "")
    assert read_harness("../other.json", place()).files == other.files
    repo.write("AGENTS.md", "ours\n")
    repo.commit()
    with pytest.raises(UsageError, match="of another repository"):
        read_harness("../other.json", place())
    content = json.loads(bundle_text(Harness({"AGENTS.md": "theirs\n"}, "there")))
    (tmp_path / "alike.json").write_text(json.dumps(content))
    assert read_harness("../alike.json", place()).files == {"AGENTS.md": "theirs\n"}
