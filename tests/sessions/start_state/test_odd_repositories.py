"""Repositories that are gone, odd or damaged, and wrong times: each with its right value."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.sessions.start_state.rebuilt import (
    LATER,
    began,
    claude_in,
    codex_in,
    edited,
    patched,
    saw,
    told,
    untouched,
    written,
    wrote,
)
from tests.sessions.start_state.repo import ENVIRON, Repo, repo_in
from tests.sessions.transcripts import Claude

from fairtrial.model.errors import StoreError, UsageError
from fairtrial.model.session import Session
from fairtrial.model.start_state import Base, BaseSource, Evidence, Grade, Override, StartState
from fairtrial.sessions.start_state.laying_out import lay_out

EARLIER = LATER - timedelta(days=9)


def shop(tmp_path: Path, name: str = "shop") -> tuple[Repo, str]:
    repo = repo_in(tmp_path / name)
    repo.write("a.py", "a\n")
    repo.write("sub/b.py", "b\n")
    return repo, repo.commit("one")


def test_a_folder_that_is_gone_needs_a_clone(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root / "sub", commit)
    codex.prompt("Go.")
    gone = {"type": "delete", "content": "dirty\n"}
    patched(codex, {f"{repo.root}/sub/b.py": gone, "c.py": gone, "../d.py": gone})
    repo.git("clone", "-q", str(repo.root), str(tmp_path / "clone"))
    shutil.rmtree(repo.root)
    found = told(codex, tmp_path)
    state = found.state()
    assert (state.grade, state.repo) == (None, None)
    assert "is gone; name a clone of its repository with --repo" in state.reasons[0]
    # Where its root was is not told any more: most files that were touched tell it.
    state = found.state(repo=tmp_path / "clone")
    assert state.grade is Grade.BASE_EXACT
    assert {one.path for one in state.overrides} == {"sub/b.py", "sub/c.py", "d.py"}
    assert found.state(repo=tmp_path).grade is None


def test_a_folder_below_the_repository_may_be_gone(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root / "sub/deep", commit)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state()
    assert (state.grade, state.repo) == (Grade.BASE_EXACT, str(repo.root))
    other = codex_in(repo.root / "sub/deep", "ab" * 20)
    other.prompt("Go.")
    assert told(other, tmp_path).state().grade is None


def test_no_repository_and_no_folder(tmp_path: Path) -> None:
    claude = claude_in(tmp_path)
    claude.prompt("Go.")
    assert "is in no git repository" in told(claude, tmp_path).state().reasons[0]
    nowhere = told(claude, tmp_path, cwd=None, repo=None).state()
    assert nowhere.reasons == ("the transcript does not tell the folder of the session",)
    assert told(claude, tmp_path, cwd="a\0b", repo=None).state().grade is None


def test_a_repository_without_commits(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a\n")
    claude = claude_in(repo.root)
    began(claude, repo, status="?? a.py", commit="")
    edited(claude, repo.root / "a.py", "a\n", "b\n")
    state = told(claude, tmp_path).state()
    assert (state.grade, state.base) == (Grade.BASE_EXACT, Base(BaseSource.NO_COMMIT, None))
    assert written(state, tmp_path / "out")[0] == {"a.py": ("file", b"a\n")}
    codex = codex_in(repo.root, None)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state()
    assert (state.grade, state.base) == (Grade.GUESSED, Base(BaseSource.NO_COMMIT, None))
    assert [one.evidence for one in state.overrides] == [Evidence.UNTOUCHED]


def test_submodules_are_empty_and_said(tmp_path: Path) -> None:
    inner, _ = shop(tmp_path, "inner")
    repo, _ = shop(tmp_path)
    repo.git("submodule", "--quiet", "add", str(inner.root), "vendor/inner")
    repo.commit("two")
    claude = claude_in(repo.root)
    began(claude, repo)
    edited(claude, repo.root / "vendor/inner/a.py", "a\n", "b\n")
    state = told(claude, tmp_path).state()
    assert state.grade is Grade.BASE_EXACT
    assert "a submodule" in {one.path: one.reason for one in state.unknown}["vendor/inner/"]
    tree, _ = written(state, tmp_path / "out")
    assert state.outside == (f"{repo.root}/vendor/inner/a.py",)
    assert (tmp_path / "out/vendor/inner").is_dir()
    assert not any(path.startswith("vendor") for path in tree)


def test_lfs_pointers_are_kept_and_no_filter_runs(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    repo.write(".gitattributes", "*.bin filter=lfs -text\n")
    repo.write("big.bin", pointer)
    repo.write("seen.bin", pointer)
    repo.commit("two")
    mark = tmp_path / "it ran"
    for key in ("smudge", "clean", "process"):
        repo.git("config", f"filter.lfs.{key}", f"touch '{mark}'")
    repo.git("config", "filter.lfs.required", "true")
    claude = claude_in(repo.root)
    began(claude, repo, status="")
    saw(claude, repo.root / "seen.bin", "the real content\n")
    state = told(claude, tmp_path).state()
    tree, _ = written(state, tmp_path / "out")
    assert (state.grade, mark.exists()) == (Grade.BASE_EXACT, False)
    assert tree["big.bin"][1] == pointer.encode()
    assert tree["seen.bin"][1] == b"the real content\n"
    assert "the filter lfs is not run" in {o.path: o.reason for o in state.unknown}["big.bin"]


def test_a_worktree_is_its_own(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    commit = side.commit("two", at="2026-11-01T00:00:00Z")
    claude = claude_in(side.root, gitBranch="HEAD")
    claude.prompt("Go.")
    state = told(claude, tmp_path).state()
    assert state.base == Base(BaseSource.HEAD_LOG, commit)
    assert state.repo == str(side.root)
    assert ".git" not in {path.name for path in (tmp_path / "out").glob("*")}


def test_a_bare_repository_holds_no_files_but_may_be_named(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    codex = codex_in(tmp_path / "bare.git", commit)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state()
    assert (state.grade, "is a bare repository" in state.reasons[0]) == (None, True)
    codex = codex_in("/nowhere/shop", commit)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state(repo=tmp_path / "bare.git")
    assert written(state, tmp_path / "out")[0].keys() == {"a.py", "sub/b.py"}


def test_windows_paths_are_mapped(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in("C:\\Users\\me\\Shop", commit)
    codex.prompt("Go.")
    gone = {"type": "delete", "content": "dirty\n"}
    patched(
        codex,
        {"C:\\Users\\me\\shop\\a.py": gone, "sub\\b.py": gone, "D:\\a.py": gone, "..\\x": gone},
    )
    found = told(codex, tmp_path)
    assert "it was recorded on Windows" in found.state().reasons[0]
    state = found.state(repo=repo.root)
    assert state.grade is Grade.BASE_EXACT
    assert {one.path for one in state.overrides} == {"a.py", "sub/b.py"}
    assert state.outside == ("D:/a.py", "C:/Users/me/x")


def test_a_commit_that_was_rebased_away_and_collected(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    first = repo.commit("base", at="2026-10-01T00:00:00Z")
    lost = repo.commit("lost", at="2026-10-02T00:00:00Z")
    repo.git("reset", "-q", "--hard", first)
    repo.git("reflog", "expire", "--expire=now", "--all")
    codex = codex_in(repo.root, lost)
    codex.prompt("Go.")
    assert told(codex, tmp_path).state().base == Base(BaseSource.RECORDED, lost)
    repo.git("gc", "-q", "--prune=now")
    state = told(codex, tmp_path).state()
    assert (state.grade, state.base) == (Grade.GUESSED, Base(BaseSource.BY_TIME, first))
    assert "is not in the repository any more" in state.reasons[0]


def test_a_shallow_clone_says_so(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    repo.commit("two")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(tmp_path / "shallow"))
    codex = codex_in(tmp_path / "shallow", commit, EARLIER)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state()
    assert state.grade is None
    assert "is not in this shallow clone; `git fetch --unshallow`" in state.reasons[0]


def test_a_clock_that_was_set_back_is_said_and_no_time_of_a_file_is_trusted(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    repo.write("new.py", "n\n")
    claude = claude_in(repo.root)
    claude.prompt("Go.")
    claude._at -= timedelta(days=400)
    claude.prompt("Go on.")
    state = told(claude, tmp_path).state()
    assert state.base == Base(BaseSource.BRANCH_LOG, commit)
    assert "the clock jumped" in state.reasons[-1]
    assert state.overrides == ()


def test_the_branch_is_taken_as_it_was_then(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    commits = [repo.commit(day, at=f"2026-10-{day}T00:00:00Z") for day in ("01", "05", "09")]
    repo.git("checkout", "-q", "-b", "other", commits[0], GIT_COMMITTER_DATE="2026-10-10T00:00:00Z")
    for day, commit in (("03", commits[0]), ("06", commits[1]), ("20", commits[2])):
        at = datetime(2026, 10, int(day), tzinfo=UTC)
        claude = claude_in(repo.root, at)
        claude.prompt("Go.")
        state = told(claude, tmp_path).state()
        assert (state.grade, state.base) == (Grade.GUESSED, Base(BaseSource.BRANCH_LOG, commit))
    before = claude_in(repo.root, datetime(2026, 9, 1, tzinfo=UTC))
    before.prompt("Go.")
    state = told(before, tmp_path).state()
    assert (state.grade, state.base) == (None, None)
    assert "no commit of its branch is older" in state.reasons[-1]


def test_a_short_hash_of_two_commits_names_none(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    hashes = {repo.commit(str(n))[:1] for n in range(17)}
    assert len(hashes) < 17
    claude = claude_in(repo.root)
    claude.prompt("Go.")
    some = repo.git("log", "--format=%H").split()
    twice = next(h[:1] for h in some if sum(o.startswith(h[:1]) for o in some) > 1)
    found = told(claude, tmp_path, commit=twice)
    assert isinstance(found.session, Session)
    assert found.state().grade is Grade.GUESSED


def test_line_ends_are_those_of_a_checkout(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write(".gitattributes", "*.txt text eol=crlf\n")
    repo.write("a.txt", b"a\r\nb\r\n")
    repo.commit("one")
    claude = claude_in(repo.root)
    began(claude, repo)
    edited(claude, repo.root / "a.txt", "a\nb\n", "x\n")
    state = told(claude, tmp_path).state()
    assert (state.grade, state.overrides) == (Grade.BASE_EXACT, ())
    assert written(state, tmp_path / "out")[0] == repo.tree()


def test_without_git_it_cannot_be_rebuilt_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit)
    codex.prompt("Go.")
    monkeypatch.setitem(ENVIRON, "PATH", "/nonexistent")
    state = told(codex, tmp_path).state()
    assert (state.grade, state.reasons) == (None, ("there is no git",))


def test_variables_of_the_caller_do_not_lead_git_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, commit = shop(tmp_path)
    codex = codex_in(repo.root, commit)
    codex.prompt("Go.")
    monkeypatch.setitem(ENVIRON, "GIT_DIR", "/nonexistent")
    monkeypatch.setitem(ENVIRON, "GIT_INDEX_FILE", "/nonexistent")
    assert told(codex, tmp_path).state().grade is Grade.BASE_EXACT


def test_a_folder_that_is_not_empty_or_cannot_be_made_is_refused(tmp_path: Path) -> None:
    repo, commit = shop(tmp_path)
    state = StartState(
        Grade.BASE_EXACT, (), repo=str(repo.root), base=Base(BaseSource.RECORDED, commit)
    )
    for target in (repo.root, repo.root / "a.py", repo.root / "a.py/x"):
        with pytest.raises(UsageError):
            lay_out(state, target, ENVIRON)
    shutil.rmtree(repo.root / ".git/objects")
    (repo.root / ".git/objects").mkdir()
    with pytest.raises(StoreError):
        lay_out(state, tmp_path / "out", ENVIRON)
    assert list((tmp_path / "out").iterdir()) == []


def test_no_override_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.root / "link").symlink_to(outside)
    commit = repo.commit("link")
    paths = ["../x", "link/x", "sub/../../x", "/x", "sub", "a.py/x", "sub/new/x", "sub/link"]
    overrides = tuple(
        Override(path, b"evil", "120000" if path == "sub/link" else "100644", Evidence.EDIT)
        for path in paths
    )
    state = StartState(
        Grade.BASE_EXACT,
        (),
        repo=str(repo.root),
        base=Base(BaseSource.RECORDED, commit),
        overrides=overrides,
    )
    tree, laid_out = written(state, tmp_path / "out")
    assert {path for path, _ in laid_out.skipped} == set(paths) - {"sub/new/x", "sub/link"}
    assert (list(outside.iterdir()), (tmp_path / "x").exists()) == ([], False)
    assert tree["sub/link"] == ("link", b"evil")
    assert laid_out.files == len(tree)


_NASTY = (
    *("a.py", "sub/b.py", "sub", "a.py/x", "", ".", "..", "/", "~", "\0", "\ud800", "a" * 300),
    *("sub/" * 900 + "x", "-rf", "$HOME", "*", "C:\\x", "\\\\host\\x", ".git", "sub/.GIT/config"),
    *("new\nline", "tab\t", "\u202egnp", "./a.py", "sub//b.py", "sub/./b.py", "link/x", "loop/x"),
)


_TOUCHES: tuple[Callable[[Claude, str], None], ...] = (
    lambda claude, path: edited(claude, path, "text\n", "new\n"),
    lambda claude, path: saw(claude, path, "text\n"),
    lambda claude, path: wrote(claude, path, None, "new\n"),
)


def test_no_path_in_a_transcript_breaks_it_or_leads_out(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.root / "link").symlink_to(outside)
    (repo.root / "loop").symlink_to("loop")
    repo.commit("two")
    for seed, kind in enumerate(_TOUCHES):
        claude = claude_in(repo.root, EARLIER)
        began(claude, repo, status="\n".join(f"?? {path}" for path in _NASTY))
        for path in _NASTY:
            kind(claude, path)
            kind(claude, f"{repo.root}/{path}")
            claude.ran(f"c{len(claude.records)}", f"rm -f '{path}' > '{path}'", "")
        state = told(claude, tmp_path / str(seed)).state()
        assert state.base is not None
        tree, _ = written(state, tmp_path / str(seed) / "out")
        assert not any(".git" in path.casefold().split("/") for path in tree)
        assert list(outside.iterdir()) == []


def test_names_that_are_no_utf8_come_back(tmp_path: Path) -> None:
    repo, _ = shop(tmp_path)
    name = os.fsdecode(b'caf\xe9 \n"x".txt')
    repo.write(name, "odd\n")
    commit = repo.commit("odd")
    codex = codex_in(repo.root, commit)
    codex.prompt("Go.")
    state = told(codex, tmp_path).state(clean=untouched)
    assert written(state, tmp_path / "out")[0] == repo.tree()
