"""Opening: what is made, what is refused, and what a normal run does not import."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fairtrial.model.errors import StoreError
from fairtrial.store.opening import open_store
from fairtrial.testing.store.facts import NOON, a_trial, an_experiment


def test_a_new_store_is_private(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    with open_store(home) as store:
        assert store.home == home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert [path.name for path in home.iterdir()] == ["fairtrial.db"]


def test_a_store_keeps_what_was_written(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.experiments.open_experiment(an_experiment(), [1, 2])
        store.experiments.record(an_experiment().id, [a_trial()], NOON)
    with open_store(tmp_path) as store:
        assert store.experiments.find("nightly").totals.passed == 1


def test_a_version_is_dated_by_the_clock(tmp_path: Path) -> None:
    with open_store(tmp_path, clock=lambda: NOON) as store:
        assert store.datasets.add_version("d", [])[0].created_at == NOON
    with open_store(tmp_path) as store:
        assert store.datasets.add_version("e", [])[0].created_at > NOON


def test_an_address_moves_the_database(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "x.db"
    with open_store(tmp_path / "home", f"sqlite:///{elsewhere}") as store:
        store.experiments.open_experiment(an_experiment(), [])
    assert elsewhere.exists()
    assert not (tmp_path / "home" / "fairtrial.db").exists()


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("no address", "not a database URL"),
        ("postgresql+psycopg://host/name", "cannot keep its store in postgresql"),
        ("sqlite://", "cannot keep its store in sqlite"),
    ],
)
def test_another_address_is_refused(tmp_path: Path, url: str, what: str) -> None:
    with pytest.raises(StoreError, match=what) as caught:
        open_store(tmp_path, url)
    assert caught.value.where == "FAIRTRIAL_STORE"
    assert caught.value.fix


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "fairtrial.db").touch()
    with open_store(tmp_path) as store:
        assert store.experiments.newest(1) == []


def _another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmark (url TEXT)")


def _text(path: Path) -> None:
    path.write_text("dear diary " * 1_000)


def _folder(path: Path) -> None:
    path.mkdir()


def _torn(path: Path) -> None:
    with open_store(path.parent):
        pass
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "none" / "none.db")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_another_program, "not a fairtrial store"),
        (_text, "not a fairtrial store"),
        (_folder, "may not be read or written"),
        (_torn, "is damaged"),
        (_dangling, "may not be read or written"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_no_store_is_refused(tmp_path: Path, make: object, what: str) -> None:
    path = tmp_path / "fairtrial.db"
    assert callable(make)
    make(path)
    with pytest.raises(StoreError, match=what) as caught:
        open_store(tmp_path)
    assert caught.value.where == str(path)
    assert caught.value.why
    assert caught.value.fix
    assert not list(tmp_path.glob("*.partial*"))


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("")
    for below in (home, home / "deeper"):
        with pytest.raises(StoreError, match="the store cannot be here") as caught:
            open_store(below)
        assert str(home) in str(caught.value.where)


_NORMAL_RUN = """
import sys
from pathlib import Path
from fairtrial.store.opening import open_store
with open_store(Path(sys.argv[1])) as store:
    store.datasets.add_version("d", [])
    store.experiments.newest(9)
print(*sorted(sys.modules))
"""


def test_a_normal_run_imports_nothing_slow(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _NORMAL_RUN, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    imported = set(done.stdout.split())
    assert "sqlalchemy" in imported
    slow = {"alembic", "numpy", "sqlalchemy.dialects.postgresql", "zstandard"}
    assert not imported & slow


def _deleted(path: Path, _other: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _replaced(path: Path, other: Path) -> None:
    _deleted(path, other)
    with open_store(other):
        pass
    (other / path.name).replace(path)


def _folder_deleted(path: Path, _other: Path) -> None:
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("lose", [_deleted, _replaced, _folder_deleted])
def test_a_file_that_is_not_the_opened_one_any_more_is_never_written_in_silence(
    tmp_path: Path, lose: Callable[[Path, Path], None]
) -> None:
    with open_store(tmp_path / "home") as store:
        store.experiments.open_experiment(an_experiment(), [1, 2])
        lose(tmp_path / "home" / "fairtrial.db", tmp_path / "other")
        with pytest.raises(StoreError, match="gone, or was replaced") as caught:
            store.experiments.record(an_experiment().id, [a_trial()], NOON)
        assert "start again" in (caught.value.fix or "")
        with pytest.raises(StoreError, match="gone, or was replaced"):
            store.datasets.add_version("d", [])
        with pytest.raises(StoreError, match="gone, or was replaced"):
            store.experiments.newest(1)
