"""What a session of Claude Code began with, rebuilt from its transcript and held to the truth."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from tests.sessions.start_state.rebuilt import (
    LATER,
    began,
    claude_in,
    differing,
    edited,
    saw,
    told,
    written,
    wrote,
)
from tests.sessions.start_state.repo import Repo, repo_in

from fairtrial.model.start_state import BaseSource, Evidence, Grade


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with a commit, and with changes of every kind that are not committed."""
    repo = repo_in(tmp_path / "shop")
    for name in ("a.py", "clean.py", "gone.py", "staged.py", "moved.py"):
        repo.write(name, f"# {name}\n")
    repo.write("run.sh", "true\n").chmod(0o755)
    (repo.root / "link").symlink_to("a.py")
    repo.commit("one")
    repo.write("a.py", "dirty = 1\n")
    repo.write("staged.py", "staged = 1\n")
    repo.git("add", "staged.py")
    (repo.root / "gone.py").unlink()
    repo.git("mv", "moved.py", "here.py")
    repo.write("new/ü.txt", "untracked\n")
    return repo


def test_a_dirty_tree_comes_back_byte_for_byte(repo: Repo, tmp_path: Path) -> None:
    true = repo.tree()
    claude = claude_in(repo.root)
    began(claude, repo)
    edited(claude, repo.root / "a.py", "dirty = 1\n", "dirty = 2\n")
    repo.write("a.py", "dirty = 2\n")
    wrote(claude, repo.root / "made.py", None, "made\n")
    repo.write("made.py", "made\n")
    edited(claude, repo.root / "clean.py", "# clean.py\n", "x\n")
    repo.write("clean.py", "x\n")
    before = repo.git("status", "--porcelain"), (repo.root / ".git/index").read_bytes()
    state = told(claude, tmp_path).state()
    tree, laid_out = written(state, tmp_path / "out")
    assert (state.grade, state.conflicts) == (Grade.BASE_EXACT, ())
    assert state.base is not None
    assert state.base.source is BaseSource.RECORDED_SHORT
    assert differing(true, tree, state) == set()
    assert (tree["a.py"], tree["link"]) == (true["a.py"], true["link"])
    assert tree["run.sh"][0] == "executable"
    assert (laid_out.files, laid_out.skipped) == (len(true), ())
    evidence = {one.path: one.evidence for one in state.overrides}
    assert evidence["a.py"] is Evidence.EDIT
    assert (evidence["gone.py"], evidence["moved.py"]) == (Evidence.STATUS, Evidence.STATUS)
    assert evidence["new/ü.txt"] is Evidence.UNTOUCHED
    assert {one.path for one in state.unknown} == {"new/"}
    after = repo.git("status", "--porcelain"), (repo.root / ".git/index").read_bytes()
    assert after == before


def test_a_dirty_file_that_was_changed_since_and_never_seen_is_unknown(
    repo: Repo, tmp_path: Path
) -> None:
    claude = claude_in(repo.root, LATER - timedelta(days=9))
    began(claude, repo)
    state = told(claude, tmp_path).state()
    unknown = {one.path for one in state.unknown}
    assert unknown >= {"a.py", "staged.py", "new/"}
    tree, _ = written(state, tmp_path / "out")
    assert tree["a.py"] == ("file", b"# a.py\n")
    assert "gone.py" not in tree


def test_what_was_read_whole_before_a_command_is_known_and_after_it_is_doubted(
    repo: Repo, tmp_path: Path
) -> None:
    claude = claude_in(repo.root, LATER - timedelta(days=9))
    began(claude, repo)
    saw(claude, repo.root / "a.py", "dirty = 1\n")
    claude.ran("c1", "make everything && sed -i s/a/b/ clean.py", "")
    saw(claude, repo.root / "staged.py", "staged = 1\n")
    saw(claude, repo.root / "clean.py", "# cleon.py\n")
    claude.ran("c2", "echo x > a.py; rm -f here.py; echo x > gone.py", "")
    state = told(claude, tmp_path).state()
    overrides = {one.path: (one.content, one.evidence) for one in state.overrides}
    assert overrides["a.py"] == (b"dirty = 1\n", Evidence.READ)
    assert overrides["staged.py"] == (b"staged = 1\n", Evidence.READ)
    assert "clean.py" not in overrides
    unknown = {one.path: one.reason for one in state.unknown}
    assert "a.py" not in unknown
    assert unknown["staged.py"] == "a command that ran before may have changed it"
    assert "a command changed it" in unknown["here.py"]
    assert overrides["gone.py"] == (None, Evidence.STATUS)
    assert "clean.py" not in unknown
    assert state.grade is Grade.BASE_EXACT


def test_a_file_that_git_called_clean_but_was_not_is_a_conflict(repo: Repo, tmp_path: Path) -> None:
    claude = claude_in(repo.root)
    began(claude, repo)
    edited(claude, repo.root / "clean.py", "something else\n", "x\n")
    state = told(claude, tmp_path).state()
    assert state.grade is Grade.CONFLICTING
    assert [(one.path, one.event) for one in state.conflicts] == [("clean.py", 5)]
    assert state.reasons[0].startswith("clean.py: git listed no change")


def test_between_two_prompts_the_user_may_have_edited(repo: Repo, tmp_path: Path) -> None:
    claude = claude_in(repo.root)
    began(claude, repo)
    claude.prompt("And now?")
    edited(claude, repo.root / "clean.py", "something else\n", "x\n")
    state = told(claude, tmp_path).state()
    assert state.grade is Grade.BASE_EXACT
    assert "clean.py" not in {one.path for one in state.overrides}


def test_files_that_claim_to_be_new_but_were_there_conflict(repo: Repo, tmp_path: Path) -> None:
    claude = claude_in(repo.root)
    began(claude, repo)
    wrote(claude, repo.root / "clean.py", None, "x\n")
    wrote(claude, repo.root / "here.py", None, "x\n")
    wrote(claude, repo.root / "gone.py", None, "x\n")
    state = told(claude, tmp_path).state()
    assert [one.path for one in state.conflicts] == ["clean.py", "here.py"]


def test_copies_that_were_put_aside_are_the_bytes_themselves(repo: Repo, tmp_path: Path) -> None:
    claude = claude_in(repo.root, LATER - timedelta(days=9))
    began(claude, repo)
    backups = [("a.py", "00aa@v1"), (str(repo.root / "made.py"), None), ("staged.py", "lost@v1")]
    for path, name in backups:
        backup = {"backupFileName": name, "version": 1}
        claude.plain(type="file-history-delta", trackingPath=path, backup=backup)
    edited(claude, repo.root / "a.py", "caf\ufffd\n", "x\n")
    edited(claude, repo.root / "staged.py", "staged = 1\n", "x\n")
    kept = tmp_path / "file-history" / claude.session
    kept.mkdir(parents=True)
    (kept / "00aa@v1").write_bytes(b"caf\xe9\r\n")
    state = told(claude, tmp_path).state()
    overrides = {one.path: (one.content, one.evidence) for one in state.overrides}
    assert overrides["a.py"] == (b"caf\xe9\r\n", Evidence.COPY)
    assert overrides["staged.py"] == (b"staged = 1\n", Evidence.EDIT)
    assert "made.py" not in written(state, tmp_path / "out")[0]


def test_line_ends_encodings_and_secrets_are_not_made_up(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("crlf.txt", b"one\r\ntwo\r\n")
    repo.write("latin.txt", b"caf\xe9\n")
    repo.write("key.txt", b"key = k-123\n")
    repo.commit("one")
    claude = claude_in(repo.root, LATER - timedelta(days=9))
    repo.write("crlf.txt", b"ONE\r\ntwo\r\n")
    repo.write("other.txt", b"a\r\nb\n")
    repo.write("key2.txt", b"key = k-456\n")
    repo.write("broken.txt", b"\xff\n")
    began(claude, repo)
    edited(claude, repo.root / "latin.txt", "caf\ufffd\n", "x\n")
    edited(claude, repo.root / "key.txt", "key = [redacted:k]\n", "x\n")
    edited(claude, repo.root / "crlf.txt", "ONE\ntwo\n", "x\n")
    edited(claude, repo.root / "other.txt", "a\nb\n", "x\n")
    edited(claude, repo.root / "key2.txt", "key = [redacted:k]\n", "x\n")
    edited(claude, repo.root / "broken.txt", "\ufffd\n", "x\n")

    def clean(data: bytes) -> bytes:
        return data.replace(b"k-123", b"[redacted:k]").replace(b"k-456", b"[redacted:k]")

    state = told(claude, tmp_path).state(clean=clean)
    assert {one.path: one.content for one in state.overrides} == {
        "crlf.txt": b"ONE\r\ntwo\r\n",
        "other.txt": b"a\r\nb\r\n",
    }
    unknown = {one.path: one.reason for one in state.unknown}
    assert unknown.keys() == {"other.txt", "key2.txt", "broken.txt"}
    assert "secret" in unknown["key2.txt"]
    assert state.grade is Grade.BASE_EXACT


def test_paths_that_lead_out_are_told_and_never_written(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.root / "out").symlink_to(outside)
    (repo.root / "in").symlink_to("new")
    repo.commit("links")
    claude = claude_in(repo.root)
    began(claude, repo)
    places = ["/etc/passwd", f"{repo.root}/../outside/x", f"{repo.root}/out/x", ".git/config"]
    places += [f"{repo.root}/.GIT/hooks/x", "a\0b", "~/x"]
    for place in places:
        edited(claude, place, "evil\n", "x\n")
    edited(claude, f"{repo.root}/in/ü.txt", "through a link\n", "x\n")
    state = told(claude, tmp_path).state()
    shown = [f"{tmp_path}/outside/x" if "outside" in place else place for place in places[:4]]
    shown[3] = f"{repo.root}/.git/config"
    assert [one for one in state.outside if one in shown] == shown
    assert not any("evil" in (one.content or b"").decode() for one in state.overrides)
    assert [one.path for one in state.conflicts] == ["new/ü.txt"]
    tree, _ = written(state, tmp_path / "rebuilt")
    assert list(outside.iterdir()) == []
    assert tree["out"][0] == "link"


def test_without_a_recorded_status_nothing_is_called_clean(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("a.py", "a\n")
    repo.write("b.py", "b\n")
    commit = repo.commit("one", at="2026-11-01T00:00:00Z")
    repo.write("b.py", "dirty\n")
    claude = claude_in(repo.root, version="2.0.27")
    claude.prompt("Go.")
    edited(claude, repo.root / "a.py", "dirty\n", "x\n")
    repo.write("a.py", "x\n")
    wrote(claude, repo.root / "made.py", None, "x\n")
    state = told(claude, tmp_path).state()
    assert (state.grade, state.base and state.base.commit) == (Grade.GUESSED, commit)
    assert state.base is not None
    assert state.base.source is BaseSource.BRANCH_LOG
    assert {one.path: one.content for one in state.overrides} == {
        "a.py": b"dirty\n",
        "b.py": b"dirty\n",
    }
    assert [one.path for one in state.unknown] == [""]


def test_what_a_status_cannot_tell_is_said(tmp_path: Path) -> None:
    repo = repo_in(tmp_path / "shop")
    repo.write("run.sh", "true\n")
    repo.commit("one")
    (repo.root / "run.sh").chmod(0o755)
    repo.git("config", "status.showUntrackedFiles", "no")
    repo.write("new.py", "n\n")
    claude = claude_in(repo.root, LATER - timedelta(days=9))
    began(claude, repo)
    edited(claude, repo.root / "run.sh", "true\n", "false\n")
    unknown = {one.path: one.reason for one in told(claude, tmp_path).state().unknown}
    assert unknown.keys() == {"", "run.sh"}
    assert "its mode or line ends differed" in unknown["run.sh"]
    assert "git is set not to list" in unknown[""]
