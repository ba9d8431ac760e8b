"""The objects of snapshots: shared, packed, freed, and what can go wrong with them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspaces.snapshots.conftest import NOW, Repo, Shelf, tree

from fairtrial.model.errors import NotFoundError, StoreError, UsageError
from fairtrial.model.snapshot import Moment
from fairtrial.workspaces.snapshots.files import Occasion, SnapshotFailedError, Taker, snapshot_of
from fairtrial.workspaces.snapshots.object_store import ObjectStore

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")
NOISE = "".join(f"{number * 7919 % 10007:x}" for number in range(40_000))


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_removing_frees_the_objects(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    first = shelf.take(repo.root)
    repo.write("large", NOISE)
    second = shelf.take(repo.root, Moment.STOP)
    (repo.root / "large").unlink()
    third = shelf.take(repo.root, Moment.STOP)
    folder = shelf.home / "snapshots" / first.repository
    before = size(folder)
    freed = shelf.files.remove([second])
    assert freed > 20_000
    assert size(folder) == before - freed
    with pytest.raises(NotFoundError, match="not there any more"):
        shelf.files.restore(second, tmp_path / "no")
    shelf.files.restore(third, tmp_path / "yes")
    assert set(tree(tmp_path / "yes")) == {"a"}
    assert shelf.files.remove([first, second, third]) > 0
    assert not folder.exists()
    assert shelf.files.remove([first]) == 0


def test_the_same_content_is_kept_once(repo: Repo, shelf: Shelf) -> None:
    repo.write("large", NOISE)
    repo.commit()
    snapshot = shelf.take(repo.root)
    folder = shelf.home / "snapshots" / snapshot.repository
    before = size(folder)
    for _ in range(5):
        shelf.take(repo.root)
    assert size(folder) < before + 2_000


def test_a_diff_of_two_snapshots(repo: Repo, make_repo: Callable[..., Repo], shelf: Shelf) -> None:
    repo.write("a", "one\n")
    before = shelf.take(repo.root)
    repo.write("a", "two\n")
    after = shelf.take(repo.root, Moment.STOP)
    assert b"-one\n+two\n" in shelf.files.diff(before, after)
    other = shelf.take(make_repo("other").root)
    with pytest.raises(UsageError, match="different repositories"):
        shelf.files.diff(before, other)


def test_what_is_borrowed_can_be_restored_before_it_is_packed(
    repo: Repo, shelf: Shelf, tmp_path: Path
) -> None:
    repo.write("a", "1")
    repo.commit()
    taker = Taker(shelf.home, shelf.environ, 30.0)
    found = taker.find(repo.root)
    taken = taker.take(found, lambda: "snap_borrowed")
    assert taken is not None
    store = ObjectStore(shelf.home, found.key)
    assert "GIT_ALTERNATE_OBJECT_DIRECTORIES" in store.variables()
    occasion = Occasion(taken[0], "codex", "native", Moment.START, NOW)
    snapshot = snapshot_of(found, taken[1], occasion)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)
    shutil.rmtree(repo.root)
    shelf.files.complete()
    with pytest.raises(NotFoundError):  # too late: its repository is gone
        shelf.files.restore(snapshot, tmp_path / "no")


def test_a_folder_that_is_not_empty_is_left_alone(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    snapshot = shelf.take(repo.root)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        shelf.files.restore(snapshot, tmp_path / "full")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="cannot be written"):
        shelf.files.restore(snapshot, tmp_path / "file")


def test_a_data_folder_that_cannot_be_written(repo: Repo, shelf: Shelf) -> None:
    shelf.home.write_text("a file")
    with pytest.raises(StoreError, match="the snapshot failed"):
        shelf.take(repo.root)


def test_no_time_left(repo: Repo, shelf: Shelf) -> None:
    with pytest.raises(SnapshotFailedError, match="longer than there was time for"):
        Taker(shelf.home, shelf.environ, 0.0).find(repo.root)


def test_no_git(repo: Repo, shelf: Shelf) -> None:
    shelf.environ["PATH"] = str(repo.home)
    with pytest.raises(UsageError, match="git is not on PATH"):
        shelf.take(repo.root)


def test_many_at_once(repo: Repo, shelf: Shelf, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit()
    program = (
        "import sys; from pathlib import Path; from datetime import datetime, UTC\n"
        "from fairtrial.model.snapshot import Moment\n"
        "from fairtrial.workspaces.snapshots.files import GitSnapshotFiles, Occasion\n"
        "home, root, name = sys.argv[1:]\n"
        "import os; files = GitSnapshotFiles(Path(home), dict(os.environ))\n"
        "for n in range(3):\n"
        "    one = Occasion(f'snap_{name}_{n}', 'codex', name, Moment.START, datetime.now(UTC))\n"
        "    kept = files.take(Path(root), one)\n"
        "files.remove([kept])\n"
    )
    words = [sys.executable, "-c", program, str(shelf.home), str(repo.root)]
    running = [
        subprocess.Popen([*words, str(n)], stderr=subprocess.PIPE, text=True) for n in range(4)
    ]
    assert [process.communicate()[1] for process in running] == [""] * 4
    snapshot = shelf.take(repo.root)
    shelf.files.restore(snapshot, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(repo.root)
    folder = shelf.home / "snapshots" / snapshot.repository / "refs/snapshots"
    assert len(list(folder.iterdir())) == 4 * 2 + 1
