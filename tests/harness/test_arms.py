"""A and B where only one of them is named, or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.harness.conftest import ENVIRON
from tests.sessions.start_state.repo import Repo

from fairtrial.harness.arms import Arms, default_arms
from fairtrial.harness.sources import Place
from fairtrial.model.errors import FairtrialError, UsageError

Look = Callable[[], Place]


def texts(arms: Arms, path: str = "AGENTS.md") -> tuple[str | None, str | None]:
    return arms.a.files.get(path), arms.b.files.get(path)


def test_what_is_not_committed_is_tried_against_the_last_commit(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.write("src/a.py", "")
    commit = repo.commit()
    repo.write("AGENTS.md", "two\n")
    repo.write(".claude/rules/new.md", "rule\n")
    repo.write("src/a.py", "changed")
    arms = default_arms(place(), None, None)
    assert texts(arms) == ("one\n", "two\n")
    assert texts(arms, ".claude/rules/new.md") == (None, "rule\n")
    assert arms.said == (
        f"A is the last commit ({commit[:7]}), B your uncommitted edits: "
        ".claude/rules/new.md, AGENTS.md"
    )


def test_staged_edits_are_edits(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.write("AGENTS.md", "two\n")
    repo.git("add", "-A")
    assert texts(default_arms(place(), None, None)) == ("one\n", "two\n")


def test_without_edits_it_is_the_last_commit_that_changed_the_harness(
    repo: Repo, place: Look
) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit("begin")
    repo.write("AGENTS.md", "two\n")
    second = repo.commit("Be\tstrict about tests")
    repo.write("src/a.py", "")
    repo.commit("code")
    arms = default_arms(place(), None, None)
    assert texts(arms) == ("one\n", "two\n")
    assert arms.said == (
        "Nothing is uncommitted: B is the last commit that changed the harness "
        f"({second[:7]} Bestrict about tests), A the version before it"
    )


def test_a_change_of_an_imported_file_is_one_of_the_harness(repo: Repo, place: Look) -> None:
    repo.write("CLAUDE.md", "@docs/style.md\n")
    repo.write("docs/style.md", "tabs\n")
    repo.write("docs/other.md", "x\n")
    repo.commit()
    repo.write("docs/style.md", "spaces\n")
    repo.commit("style")
    repo.write("docs/other.md", "y\n")
    repo.commit("other")
    arms = default_arms(place(), None, None)
    assert texts(arms, "docs/style.md") == ("tabs\n", "spaces\n")


def test_a_merge_is_one_change_against_its_first_parent(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.git("checkout", "-q", "-b", "topic")
    for text in ("two\n", "three\n"):
        repo.write("AGENTS.md", text)
        repo.commit(text)
    repo.git("checkout", "-q", "main")
    repo.write("src/a.py", "")
    repo.commit("code")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge topic", "topic")
    assert texts(default_arms(place(), None, None)) == ("one\n", "three\n")


def test_removing_the_harness_is_a_change(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    (repo.root / "AGENTS.md").unlink()
    assert texts(default_arms(place(), None, None)) == ("one\n", None)
    repo.commit("gone")
    assert texts(default_arms(place(), None, None)) == ("one\n", None)


def test_a_first_commit_has_none_before_it(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    arms = default_arms(place(), None, None)
    assert (texts(arms), arms.a.label) == ((None, "one\n"), "none")
    repo.commit()
    assert texts(default_arms(place(), None, None)) == (None, "one\n")


def test_a_detached_head_is_a_commit_like_another(repo: Repo, place: Look) -> None:
    for text in ("one\n", "two\n", "three\n"):
        repo.write("AGENTS.md", text)
        repo.commit()
    repo.git("checkout", "-q", "HEAD~1")
    assert texts(default_arms(place(), None, None)) == ("one\n", "two\n")


def test_a_shallow_clone_says_how_to_get_the_version_before(repo: Repo, tmp_path: Path) -> None:
    for text in ("one\n", "two\n"):
        repo.write("AGENTS.md", text)
        repo.commit()
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(tmp_path / "clone"))
    with pytest.raises(UsageError, match="not in this clone") as caught:
        default_arms(Place(tmp_path / "clone", ENVIRON), None, None)
    assert "--deepen" in (caught.value.fix or "")


def test_a_commit_without_its_files_says_that_the_clone_is_partial(
    repo: Repo, tmp_path: Path
) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    for text in ("one\n", "two\n"):
        repo.write("AGENTS.md", text)
        repo.commit()
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.root}", str(clone))
    with pytest.raises(FairtrialError, match=r"git has no content of AGENTS\.md") as caught:
        default_arms(Place(clone, ENVIRON), None, None)
    assert "partial" in (caught.value.why or "")


def test_private_instructions_are_in_both(repo: Repo, place: Look) -> None:
    repo.write(".gitignore", "CLAUDE.local.md\n")
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.write("AGENTS.md", "two\n")
    repo.write("CLAUDE.local.md", "mine\n")
    for a, b in ((None, None), ("git:HEAD", None), ("git:HEAD", ".")):
        assert texts(default_arms(place(), a, b), "CLAUDE.local.md") == ("mine\n", "mine\n")
    repo.commit()
    assert texts(default_arms(place(), None, None), "CLAUDE.local.md") == ("mine\n", "mine\n")
    with pytest.raises(UsageError, match="A and B are the same harness"):
        default_arms(place(), "git:HEAD", ".")


def test_b_alone_is_tried_against_the_current_files(
    repo: Repo, place: Look, tmp_path: Path
) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.write("AGENTS.md", "two\n")
    (tmp_path / "AGENTS.md").write_text("three\n")
    arms = default_arms(place(), None, "../AGENTS.md")
    assert texts(arms) == ("two\n", "three\n")
    assert (
        arms.said == "A is the current files of shop, B ../AGENTS.md in the current files of shop"
    )


@pytest.mark.parametrize("given", ["AGENTS.md", "."])
def test_b_of_the_current_files_itself_is_tried_against_the_last_commit(
    repo: Repo, place: Look, given: str
) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.write("sub/AGENTS.md", "one\n")
    repo.commit()
    repo.write("AGENTS.md", "two\n")
    repo.write("sub/AGENTS.md", "two\n")
    arms = default_arms(place(), None, given)
    assert texts(arms) == ("one\n", "two\n")
    # A file is tried alone.
    other = "one\n" if given == "AGENTS.md" else "two\n"
    assert texts(arms, "sub/AGENTS.md") == ("one\n", other)


def test_a_file_given_for_b_goes_into_a(repo: Repo, place: Look, tmp_path: Path) -> None:
    for text in ("one\n", "two\n"):
        repo.write("AGENTS.md", text)
        repo.write("sub/AGENTS.md", f"sub {text}")
        repo.commit()
    (tmp_path / "AGENTS.md").write_text("three\n")
    arms = default_arms(place(), "git:HEAD~1", "../AGENTS.md")
    assert texts(arms) == ("one\n", "three\n")
    assert texts(arms, "sub/AGENTS.md") == ("sub one\n", "sub one\n")


def test_a_rename_keeps_the_text(repo: Repo, place: Look) -> None:
    repo.write("CLAUDE.md", "one\n")
    repo.commit()
    repo.git("mv", "CLAUDE.md", "AGENTS.md")
    arms = default_arms(place(), None, None)
    assert (arms.a.files, arms.b.files) == ({"CLAUDE.md": "one\n"}, {"AGENTS.md": "one\n"})


def test_without_a_repository_both_must_be_named(tmp_path: Path) -> None:
    for name, text in (("a", "one\n"), ("b", "two\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "AGENTS.md").write_text(text)
    place = Place(tmp_path, ENVIRON)
    assert texts(default_arms(place, "a", "b")) == ("one\n", "two\n")
    assert texts(default_arms(place, "none", "b")) == (None, "two\n")
    for a, b in ((None, None), ("a", None), (None, "b"), ("git:HEAD", "b")):
        with pytest.raises(UsageError, match="there is no git repository around"):
            default_arms(place, a, b)


def test_a_broken_repository_is_no_missing_one(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with pytest.raises(FairtrialError, match="git does not read the repository"):
        default_arms(Place(tmp_path, ENVIRON), None, None)


def test_nothing_to_compare_says_what_to_do(repo: Repo, place: Look) -> None:
    for _ in range(2):
        with pytest.raises(UsageError, match="no edit of a harness to compare") as caught:
            default_arms(place(), None, None)
        assert "--b FILE" in (caught.value.fix or "")
        repo.write("src/a.py", "")
        repo.commit()
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    with pytest.raises(UsageError, match="A and B are the same harness"):
        default_arms(place(), "git:HEAD", "git:main")


def test_a_conflict_is_refused_in_either(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.write("AGENTS.md", "a\n<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> topic\n")
    for a, b in ((None, None), (None, "AGENTS.md"), (".", "git:HEAD")):
        with pytest.raises(UsageError, match=r"AGENTS\.md has a merge conflict") as caught:
            default_arms(place(), a, b)
        assert "line 2" in (caught.value.where or "")


def test_what_git_is_merging_is_refused_whatever_it_says(repo: Repo, place: Look) -> None:
    repo.write("AGENTS.md", "one\n")
    repo.commit()
    repo.git("checkout", "-q", "-b", "topic")
    repo.write("AGENTS.md", "two\n")
    repo.commit()
    repo.git("checkout", "-q", "main")
    (repo.root / "AGENTS.md").unlink()
    repo.commit()
    with pytest.raises(Exception, match="exit status 1"):
        repo.git("merge", "-q", "topic")
    with pytest.raises(UsageError, match=r"AGENTS\.md has a merge conflict"):
        default_arms(place(), None, None)
