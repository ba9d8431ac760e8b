"""Trees of files: copied, packed, unpacked below hostile folders, removed."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.workspaces.copying import archive_of, copy_tree, remove_tree
from fairtrial.workspaces.sandbox import placing


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "file").write_text("x")
    (tree / "sub" / "tool").write_text("#!/bin/sh")
    (tree / "sub" / "tool").chmod(0o755)
    (tree / "link").symlink_to("sub/file")
    return tree


@pytest.mark.parametrize("path", ["/usr/bin:/bin", "/none"])  # with cp and without
def test_a_copy_is_whole_and_shares_no_file(
    tree: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(tree / "sub" / "file", tree / "twin")
    monkeypatch.setenv("PATH", path)
    how = copy_tree(tree, tmp_path / "copy")
    assert how == ("a copy, file by file" if path == "/none" else "a copy by cp")
    copy = tmp_path / "copy"
    assert (copy / "sub" / "file").read_text() == "x"
    assert (copy / "sub" / "tool").stat().st_mode & 0o777 == 0o755
    assert (copy / "link").readlink() == Path("sub/file")
    (copy / "sub" / "file").write_text("changed")
    assert (tree / "sub" / "file").read_text() == "x"


def test_what_forbids_itself_is_removed(tree: Path) -> None:
    (tree / "sub").chmod(0)
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "deep").chmod(0o500)
    remove_tree(tree)
    assert not tree.exists()
    remove_tree(tree)


def test_a_link_is_removed_and_not_what_it_leads_to(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "top").mkdir()
    (tmp_path / "top" / "out").symlink_to(tree)
    remove_tree(tmp_path / "top")
    assert (tree / "sub" / "file").exists()


def test_an_archive_comes_out_as_it_went_in(tree: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    placing.put(str(target), io.BytesIO(archive_of(tree, "below/it")))
    assert (target / "below/it/link").read_text() == "x"
    assert (target / "below/it/sub/tool").stat().st_mode & 0o777 == 0o755
    placing.put(str(target), io.BytesIO(archive_of(tree / "sub" / "file")))
    assert (target / "file").read_text() == "x"


def test_a_pipe_cannot_be_packed(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        archive_of(tree)


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "a/.."])
def test_an_archive_cannot_lead_out(tmp_path: Path, name: str) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    packed.seek(0)
    (tmp_path / "target").mkdir()
    with pytest.raises(ValueError, match="leads out"):
        placing.put(str(tmp_path / "target"), packed)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("there", ["link", "file", "full"])
def test_what_is_in_the_way_makes_room(tmp_path: Path, there: str) -> None:
    target, outside = tmp_path / "target", tmp_path / "outside"
    target.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("precious")
    for name in ("folder", "name"):
        if there == "link":
            (target / name).symlink_to(outside)
        elif there == "file":
            (target / name).write_text("old")
        else:
            (target / name / "sub").mkdir(parents=True)
    placing.put(str(target), io.BytesIO(archive_of({"folder/in": b"1", "name": b"2"})))
    assert (target / "folder" / "in").read_bytes() == b"1"
    assert (target / "name").read_bytes() == b"2"
    assert [path.name for path in outside.iterdir()] == ["precious"]


def test_only_a_regular_file_is_read(tree: Path) -> None:
    os.mkfifo(tree / "pipe")
    for path in ("none", "none/x", "link", "sub", "pipe", "link/x", ""):
        assert not placing.get(str(tree), path, io.BytesIO())
    target = io.BytesIO()
    assert placing.get(str(tree), "sub/file", target)
    assert target.getvalue() == b"x"


def test_regular_files_are_listed(tree: Path) -> None:
    (tree / "away").symlink_to("/etc")
    os.mkfifo(tree / "pipe")
    assert placing.listed(str(tree), "", 10) == ["sub/file", "sub/tool"]
    assert placing.listed(str(tree), "", 1) == ["sub/file"]
    assert placing.listed(str(tree), "sub", 10) == ["file", "tool"]
    assert placing.listed(str(tree), "away", 10) == []
    assert placing.listed(str(tree), "none", 10) == []


def test_folders_deep_in_each_other_are_removed(tree: Path) -> None:
    here = os.open(tree, os.O_RDONLY)
    for _ in range(5000):  # more levels than Python calls, and than a path may have
        os.mkdir("d", 0o700, dir_fd=here)  # beyond the longest path
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.fchmod(here, 0)
    os.close(here)
    remove_tree(tree)
    assert not tree.exists()
