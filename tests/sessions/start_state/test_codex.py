"""What a session of Codex began with, rebuilt from its rollout and held to the truth."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.sessions.start_state.rebuilt import (
    LATER,
    codex_in,
    differing,
    patched,
    told,
    written,
)
from tests.sessions.start_state.repo import Repo, repo_in

from fairtrial.model.start_state import BaseSource, Evidence, Grade

EARLIER = LATER - timedelta(days=9)


def shop(tmp_path: Path) -> tuple[Repo, str]:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "one\ntwo\nthree\n")
    repo.write("b.py", "b\n")
    return repo, repo.commit("one")


def update(diff: str) -> dict[str, str]:
    return {"type": "update", "unified_diff": diff}


def test_a_diff_that_fits_the_commit_agrees_with_it(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit, EARLIER)
    codex.prompt("Go.")
    patched(codex, {f"{repo.root}/a.py": update("@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n")})
    state = told(codex, tmp_path).state()
    assert (state.grade, state.overrides) == (Grade.BASE_EXACT, ())
    assert state.base is not None
    assert (state.base.source, state.base.commit) == (BaseSource.RECORDED, commit)
    assert [one.path for one in state.unknown] == ["", "a.py"]


def test_a_diff_that_does_not_fit_the_commit_is_a_conflict(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit, EARLIER)
    codex.prompt("Go.")
    patched(codex, {f"{repo.root}/a.py": update("@@ -1,2 +1,2 @@\n-uno\n+ONE\n two\n")})
    state = told(codex, tmp_path).state()
    assert (state.grade, [one.path for one in state.conflicts]) == (Grade.CONFLICTING, ["a.py"])


def test_what_the_session_left_is_taken_back_to_what_it_began_with(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    repo.write("a.py", "uno\ntwo\nthree\r\nfour\n")
    repo.write("new.py", "n\n")
    true = repo.tree()
    codex = codex_in(repo.root, commit)
    codex.prompt("Go.")
    patched(codex, {f"{repo.root}/a.py": update("@@ -1,2 +1,3 @@\n-uno\n+ONE\n+1\n two\n")})
    last = "@@ -3,3 +3,2 @@\n two\n-three\r\n four\n"
    patched(
        codex, {"a.py": update(last), f"{repo.root}/b.py": {"type": "delete", "content": "b\n"}}
    )
    repo.write("a.py", "ONE\n1\ntwo\nfour\n")
    (repo.root / "b.py").unlink()
    patched(codex, {f"{repo.root}/made.py": {"type": "add", "content": "m\n"}})
    repo.write("made.py", "m\n")
    state = told(codex, tmp_path).state()
    assert state.grade is Grade.BASE_EXACT
    assert {one.path: one.evidence for one in state.overrides} == {
        "a.py": Evidence.REVERSED,
        "new.py": Evidence.UNTOUCHED,
    }
    tree, _ = written(state, tmp_path / "out")
    assert differing(true, tree, state) == set()


def test_an_added_file_may_have_been_there(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit, EARLIER)
    codex.prompt("Go.")
    patched(codex, {f"{repo.root}/b.py": {"type": "add", "content": "other\n"}})
    state = told(codex, tmp_path).state()
    assert {one.path for one in state.unknown} == {"", "b.py"}
    assert written(state, tmp_path / "out")[0]["b.py"] == ("file", b"b\n")


def test_old_patches_without_line_numbers_are_checked_too(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    for text, grade in (("two", Grade.BASE_EXACT), ("zwei", Grade.CONFLICTING)):
        patch = f"*** Begin Patch\n*** Update File: a.py\n@@ one\n-{text}\n+2\n*** End Patch\n"
        codex = codex_in(repo.root, commit, EARLIER, cli_version="0.36.0")
        codex.items = False
        codex.prompt("Go.")
        codex.call("c1", "shell", {"command": ["apply_patch", patch]})
        codex.output("c1", '{"output": "Success.", "metadata": {"exit_code": 0}}')
        assert told(codex, tmp_path / text).state().grade is grade


def test_commands_make_what_they_write_unknown(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit, EARLIER)
    codex.prompt("Go.")
    codex.ran("c1", "sed -i s/b/c/ b.py && cat a.py > copy.py", "")
    patched(codex, {f"{repo.root}/a.py": update("@@ -1,2 +1,2 @@\n-uno\n+ONE\n two\n")})
    codex.ran("c2", "grep -rn x . | head", "")
    state = told(codex, tmp_path).state()
    assert [one.path for one in state.unknown] == ["", "b.py", "copy.py"]
    assert state.grade is Grade.CONFLICTING  # nothing can have changed a.py
