"""Whole trees of files: copied, packed into an archive, removed."""

from __future__ import annotations

import io
import os
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairtrial.model.errors import UsageError
from fairtrial.workspaces.sandbox.placing import names_of


def copy_tree(source: Path, target: Path) -> str:
    """Copy a folder's content into a folder, which may be there and empty; say how it was done.

    Blocks of the disk are shared where the file system can. Never are files: what one copy writes
    in place, no other may see.

    Raises:
        OSError: it could not be copied.
    """
    target.mkdir(exist_ok=True)
    command = ["cp", "-a", "--reflink=auto", "--", f"{source}/.", str(target)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        done = None
    if done is not None and done.returncode == 0:
        return "a copy by cp"
    # Another cp than that of GNU, or a file it does not copy.
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    return "a copy, file by file"


def remove_tree(folder: Path) -> None:
    """Remove a folder, whatever modes what is in it has; one that is gone is fine.

    Raises:
        OSError: something in it belongs to another user.
    """
    if not folder.is_symlink() and not folder.exists():
        return

    def retry(function: Callable[..., Any], path: str, _error: object) -> None:
        if not os.path.lexists(path):
            return
        for place in (os.path.dirname(path), path):  # noqa: PTH120  # texts are what rmtree gives
            if not os.path.islink(place):  # noqa: PTH114
                os.chmod(place, stat.S_IRWXU)  # noqa: PTH101
        if function in {os.unlink, os.rmdir, os.remove}:
            function(path)
        else:
            shutil.rmtree(path, onerror=retry)

    try:
        shutil.rmtree(folder, onerror=retry)
    except RecursionError:
        _remove_deep_tree(folder)


def _remove_deep_tree(folder: Path) -> None:
    """Remove a folder of more levels than Python can go down; these programs have no such limit."""
    said = b""
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        done = subprocess.run([*command, "--", str(folder)], capture_output=True, check=False)  # noqa: S603
        said = done.stderr
    if os.path.lexists(folder):
        raise OSError(said.decode(errors="replace").strip() or f"{folder} cannot be removed")


def archive_of(files: Path | Mapping[str, bytes], below: str = "") -> bytes:
    """Return files as a tar archive.

    Args:
        files: A folder or a file, with its modes; or contents by relative path.
        below: A relative folder that their paths in the archive begin with.

    Raises:
        UsageError: a path or a symbolic link among them leads out of them, or one is no file.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        if isinstance(files, Path):
            _pack(archive, files, below)
        else:
            for path, content in files.items():
                try:
                    names_of(path)
                except ValueError as problem:
                    raise UsageError(str(problem), fix="give paths below one folder") from None
                member = tarfile.TarInfo(_joined(below, path))
                member.size, member.mode = len(content), 0o644
                archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _joined(below: str, path: str) -> str:
    return f"{below}/{path}" if below else path


def _pack(archive: tarfile.TarFile, top: Path, below: str) -> None:
    if not top.is_dir() or top.is_symlink():
        _pack_one(archive, top, _joined(below, top.name), top.parent)
        return
    for folder, names, files in os.walk(top):
        for name in sorted([*names, *files]):
            path = Path(folder, name)
            _pack_one(archive, path, _joined(below, path.relative_to(top).as_posix()), top)


def _pack_one(archive: tarfile.TarFile, path: Path, name: str, top: Path) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        target = os.path.normpath(path.parent / path.readlink())
        if path.readlink().is_absolute() or not Path(target).is_relative_to(top):
            raise UsageError(
                f"the symbolic link leads out of {top}",
                where=str(path),
                fix="replace it by the file it points to",
            )
    elif not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise UsageError("it is neither a file nor a folder", where=str(path), fix="remove it")
    member = archive.gettarinfo(str(path), name)
    member.type = tarfile.REGTYPE if stat.S_ISREG(mode) else member.type  # no hard links
    if stat.S_ISREG(mode):
        member.size = path.stat().st_size
        with path.open("rb") as content:
            archive.addfile(member, content)
    else:
        archive.addfile(member)
