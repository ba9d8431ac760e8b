"""A snapshot gives back what lay on the disk, and leaves the user's repository alone."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspaces.snapshots.conftest import Repo, Shelf, tree

from fairtrial.model.errors import UsageError
from fairtrial.model.snapshot import LeftOutReason, Snapshot
from fairtrial.workspaces.snapshots.files import Limits

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


def reasons(snapshot: Snapshot) -> set[LeftOutReason]:
    return {one.reason for one in snapshot.left_out}


def fill(repo: Repo) -> None:
    """Make every kind of change that a working tree knows."""
    for name in ("kept", "dirty", "staged", "both", "deleted", "removed", "becomes-folder"):
        repo.write(f"{name}.txt", f"{name}\n")
    repo.write("run.sh", "#!/bin/sh\n", 0o755)
    repo.write("plain.sh", "#!/bin/sh\n")
    repo.write("deep/er/file", "x")
    (repo.root / "link").symlink_to("kept.txt")
    repo.write(".gitignore", "ignored/\n*.log\n")
    repo.write("tracked.log", "tracked, though ignored\n")
    repo.git("add", "-f", "tracked.log")
    repo.commit()
    repo.write("dirty.txt", "changed\n")
    repo.write("staged.txt", "staged\n")
    repo.write("both.txt", "staged first\n")
    repo.git("add", "staged.txt", "both.txt")
    repo.write("both.txt", "then changed\n")
    (repo.root / "deleted.txt").unlink()
    repo.git("rm", "-q", "removed.txt")
    (repo.root / "becomes-folder.txt").unlink()
    repo.write("becomes-folder.txt/inside", "now a folder\n")
    (repo.root / "plain.sh").chmod(0o755)
    (repo.root / "link").unlink()
    (repo.root / "link").symlink_to("nowhere")
    repo.write("tracked.log", "changed, though ignored\n")
    repo.write("new/ünïcode 名前.txt", "ü\n")
    repo.write('new/"quoted"\tand\nbroken', b"\x00\xff\r\n")
    repo.write("new/empty", "")
    repo.write("new/program", "#!/bin/sh\n", 0o755)
    repo.write("added.txt", "added\n")
    repo.git("add", "added.txt")
    repo.write("intended.txt", "added later\n")
    repo.git("add", "-N", "intended.txt")


def test_all_kinds_of_changes(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    fill(repo)
    repo.write("ignored/secret", "s")
    before, status, untouched = tree(repo.root), repo.git("status", "-s"), repo.state()
    snapshot = shelf.take(repo.root / "deep")
    after = repo.state()
    assert {name for name in untouched if after.get(name) != untouched[name]} == set()
    assert set(after) == set(untouched)
    expected = {name: kept for name, kept in before.items() if not name.startswith("ignored/")}

    shutil.rmtree(repo.root)  # the store stands alone
    shelf.files.restore(snapshot, tmp_path / "files")
    assert tree(tmp_path / "files") == expected
    shelf.files.restore_repository(snapshot, tmp_path / "again")
    assert tree(tmp_path / "again") == expected
    again = Repo(tmp_path / "again", repo.home)
    # What was only intended to be added is in no tree.
    expected_status = status.replace(" A intended.txt", "?? intended.txt")
    assert set(again.git("status", "-s").splitlines()) == set(expected_status.splitlines())
    assert (snapshot.branch, snapshot.root) == ("main", str(repo.root))
    assert reasons(snapshot) == {LeftOutReason.IGNORED}


@pytest.mark.parametrize("how", ["attributes", "autocrlf", "info", "global"])
def test_line_ends_stay(repo: Repo, shelf: Shelf, tmp_path: Path, how: str) -> None:
    if how == "autocrlf":
        repo.git("config", "core.autocrlf", "input")
    elif how == "info":
        (repo.root / ".git/info").mkdir(exist_ok=True)
        repo.write(".git/info/attributes", "* text=auto\n")
    elif how == "global":
        (repo.home / ".config/git").mkdir(parents=True)
        (repo.home / ".config/git/attributes").write_text("* text=auto\n")
    else:
        repo.write(".gitattributes", "* text=auto\n*.id ident\n")
        repo.write("named.id", "$Id$\n")
    repo.write("windows.txt", "one\r\ntwo\r\n")
    repo.write("unix.txt", "one\ntwo\n")
    repo.commit()
    _make_old(repo.root)
    repo.git("status")
    repo.write("untracked.txt", "one\r\n")
    before = tree(repo.root)
    assert b"\r" not in repo.git("cat-file", "-p", "HEAD:windows.txt").encode()
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == before


def _make_old(root: Path) -> None:
    """Let all files be older than the index, so that git trusts what it knows of them."""
    for path in root.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (1_700_000_000, 1_700_000_000))


def test_a_change_within_the_same_moment_as_the_index(
    repo: Repo, shelf: Shelf, tmp_path: Path
) -> None:
    file = repo.write("a.txt", "one\n")
    repo.commit()
    index = repo.root / ".git/index"
    moment = file.stat().st_mtime_ns
    file.write_text("two\n")  # as long as before
    os.utime(file, ns=(moment, moment))
    os.utime(index, ns=(moment, moment))
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert (tmp_path / "back/a.txt").read_text() == "two\n"


def test_no_program_of_the_users_runs(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for key in ("filter.own.clean", "filter.own.smudge", "filter.own.process"):
        repo.git("config", key, f"touch {mark}; cat")
    repo.write(".gitattributes", "*.own filter=own\n")
    repo.git("config", "--unset", "filter.own.process")
    repo.write("a.own", "shouted\n")
    repo.commit()
    repo.git("config", "core.fsmonitor", f"touch {mark}; false")
    hooks = repo.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    repo.write("a.own", "shouted again\n")
    mark.unlink(missing_ok=True)
    shelf.environ["GIT_DIR"] = str(tmp_path / "elsewhere")
    shelf.environ["GIT_INDEX_FILE"] = str(tmp_path / "elsewhere" / "index")
    shelf.environ["GIT_EXTERNAL_DIFF"] = f"touch {mark}"
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert (tmp_path / "back/a.own").read_text() == "shouted again\n"
    assert not mark.exists()


def test_pointers_of_lfs_are_kept_as_pointers(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 9\n"
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.write("here.bin", pointer)
    repo.write("fetched.bin", pointer)
    repo.write("changed.bin", pointer)
    repo.commit()
    # As git LFS does: the content in the working tree, and an index that takes it for unchanged.
    big = repo.write("fetched.bin", b"\0" * 5000)
    repo.git("config", "filter.lfs.clean", f"printf '%s' '{pointer}'; cat >/dev/null")
    time.sleep(0.01)
    repo.git("add", "fetched.bin")
    _make_old(repo.root)
    repo.git("status")
    assert repo.git("status", "-s") == ""
    repo.write("changed.bin", b"\1" * 3000)
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert (tmp_path / "back/here.bin").read_text() == pointer
    assert (tmp_path / "back/fetched.bin").read_text() == pointer
    assert (tmp_path / "back/changed.bin").read_bytes() == b"\1" * 3000
    (left,) = [one for one in snapshot.left_out if one.reason is LeftOutReason.LFS]
    assert (left.files, left.bytes) == (1, big.stat().st_size)


def test_a_submodule_is_its_commit(
    repo: Repo, make_repo: Callable[..., Repo], shelf: Shelf, tmp_path: Path
) -> None:
    inner = make_repo("inner")
    inner.write("a", "1")
    inner.commit()
    repo.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(inner.root), "sub")
    repo.commit()
    repo.write("sub/dirty", "not in it")
    nested = make_repo("repo/nested")
    nested.write("b", "2")
    nested.commit()
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert set(tree(tmp_path / "back")) == {".gitmodules"}
    assert (tmp_path / "back/sub").is_dir()
    left = [one.path for one in snapshot.left_out if one.reason is LeftOutReason.SUBMODULE]
    assert left == ["sub", "nested/"]


def test_a_repository_without_commits(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("staged", "1")
    repo.git("add", "staged")
    repo.write("untracked", "2")
    snapshot = shelf.take(repo.root)
    assert (snapshot.head, snapshot.branch) == (None, "main")
    shelf.files.restore_repository(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)
    back = Repo(tmp_path / "back", repo.home)
    assert back.git("status", "-s") == repo.git("status", "-s")


def test_an_empty_repository(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == {}


def test_a_detached_head(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    repo.git("checkout", "-q", "--detach")
    snapshot = shelf.take(repo.root)
    assert snapshot.branch is None
    assert snapshot.head == repo.git("rev-parse", "HEAD").strip()
    shelf.files.restore_repository(snapshot, tmp_path / "back")
    back = Repo(tmp_path / "back", repo.home)
    assert back.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD\n"
    assert back.git("status", "-s") == ""


def test_in_the_middle_of_a_merge(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "base\n")
    repo.write("gone", "base\n")
    repo.commit()
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a", "theirs\n")
    repo.write("gone", "theirs\n")
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.write("a", "ours\n")
    (repo.root / "gone").unlink()
    repo.commit()
    with pytest.raises(Exception, match="merge"):
        repo.git("merge", "other")
    assert b"<<<<<<<" in (repo.root / "a").read_bytes()
    untouched = repo.state()
    snapshot = shelf.take(repo.root)
    after = repo.state()
    assert {name for name in untouched if after.get(name) != untouched[name]} == set()
    assert set(after) == set(untouched)
    assert snapshot.index_tree is None
    assert LeftOutReason.CONFLICT in reasons(snapshot)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)


def test_a_worktree(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    place = tmp_path / "side"
    repo.git("worktree", "add", "-q", str(place), "-b", "side")
    (place / "b").write_text("2")
    snapshot = shelf.take(place)
    main = shelf.take(repo.root)
    assert (snapshot.branch, snapshot.root) == ("side", str(place))
    assert snapshot.repository == main.repository
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(place)


@pytest.mark.parametrize("how", ["bare", "none", "inside", "gone"])
def test_where_there_is_nothing_to_take(repo: Repo, shelf: Shelf, tmp_path: Path, how: str) -> None:
    place = repo.root / ".git" if how == "inside" else tmp_path / how
    if how == "bare":
        repo.git("init", "-q", "--bare", str(place))
    elif how == "none":
        place.mkdir()
    with pytest.raises(UsageError) as caught:
        shelf.take(place)
    reason = {"bare": "bare", "none": "not a git", "inside": "git folder", "gone": "exist any more"}
    assert reason[how] in str(caught.value)
    assert not (shelf.home / "snapshots").exists()


def test_sha256_and_a_split_index(
    make_repo: Callable[..., Repo], shelf: Shelf, tmp_path: Path
) -> None:
    repo = make_repo("long", "--object-format=sha256")
    repo.write("a", "1")
    repo.commit()
    repo.git("update-index", "--split-index")
    repo.write("b", "2")
    repo.git("add", "b")
    snapshot = shelf.take(repo.root)
    shelf.files.restore_repository(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)


def test_a_sparse_checkout(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("in/a", "1")
    repo.write("out/b", "2")
    repo.commit()
    repo.git("sparse-checkout", "set", "in")
    assert not (repo.root / "out").exists()
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)


def test_large_files_are_left_out_and_said(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("known", "k" * 300)
    repo.commit()
    repo.write("known", "K" * 300)
    repo.write("large", "l" * 200)
    for number in range(5):
        repo.write(f"small-{number}", "s" * 40)
    snapshot = shelf.take(repo.root, limits=Limits(file_bytes=100, bytes=130, files=99))
    shelf.files.restore(snapshot, tmp_path / "back")
    assert set(tree(tmp_path / "back")) == {"known", "small-0", "small-1", "small-2"}
    left = [one for one in snapshot.left_out if one.reason is LeftOutReason.LARGE]
    assert [(one.path, one.files, one.bytes) for one in left] == [("large", 1, 200), ("", 2, 80)]


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user who is not root")
def test_files_that_cannot_be_read(repo: Repo, shelf: Shelf) -> None:
    repo.write("secret", "s", 0o000)
    snapshot = shelf.take(repo.root)
    assert LeftOutReason.UNREADABLE in reasons(snapshot)


def test_a_pipe_where_a_file_was(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    (repo.root / "a").unlink()
    os.mkfifo(repo.root / "a")
    snapshot = shelf.take(repo.root)
    assert LeftOutReason.SPECIAL in reasons(snapshot)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert (tmp_path / "back/a").read_text() == "1"


def test_ignore_rules_of_all_places(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    (repo.home / ".config/git").mkdir(parents=True)
    (repo.home / ".config/git/ignore").write_text("by-user\n*.keep\n")
    (repo.root / ".git/info").mkdir(exist_ok=True)
    (repo.root / ".git/info/exclude").write_text("by-clone\n!a.keep")
    for name in ("by-user", "by-clone", "a.keep", "b.keep", "seen"):
        repo.write(name, "1")
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert set(tree(tmp_path / "back")) == {"a.keep", "seen"}
