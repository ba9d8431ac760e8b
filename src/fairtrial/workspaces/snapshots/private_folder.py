"""A git folder for one snapshot, in which the user's files are looked at with settings of ours.

The user's own git folder is only read from. Neither its filters nor its hooks are known here, and
an attribute file of its own turns every conversion off, so that files are taken as they lie there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fairtrial.workspaces.snapshots.repository import Repository

RAW = "* -text -ident -filter !eol !working-tree-encoding\n"
"""Attributes under which git stores and writes a file as it is."""

_KEPT = ("filemode", "symlinks", "ignorecase", "precomposeunicode", "trustctime", "checkstat")


@contextmanager
def private_folder(
    repository: Repository, objects: Path, environ: Mapping[str, str]
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a git folder with a copy of the index, and the variables that make git use it.

    Args:
        repository: The user's.
        objects: Where new objects go.
        environ: The environment of this process.
    """
    with TemporaryDirectory(prefix="fairtrial-snapshot-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "objects").mkdir()
        (folder / "refs").mkdir()
        (folder / "info").mkdir()
        (folder / "HEAD").write_text("ref: refs/heads/none\n")
        (folder / "config").write_text(_config(repository, folder, environ))
        _write_excludes(repository, folder, environ)
        _copy(repository.common_dir / "info" / "attributes", folder / "info" / "attributes")
        # With its time of change: entries as new as the index are not taken for unchanged.
        _copy(repository.git_dir / "index", folder / "index")
        for part in repository.git_dir.glob("sharedindex.*"):
            _copy(part, folder / part.name)
        yield (
            folder,
            {
                "GIT_DIR": name,
                "GIT_WORK_TREE": str(repository.root),
                "GIT_INDEX_FILE": str(folder / "index"),
                "GIT_OBJECT_DIRECTORY": str(objects),
                "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternates(repository.objects),
            },
        )


def alternates(objects: Path) -> str:
    """Return a folder of objects as git wants it in a variable."""
    text = str(objects)
    if os.pathsep in text or text.startswith('"') or "\n" in text:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return text


def user_file(repository: Repository, name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the user's own `attributes` or `ignore` file for all repositories, if it is there."""
    setting = {"attributes": "attributesfile", "ignore": "excludesfile"}[name]
    given = repository.settings.get(setting)
    home = environ.get("HOME", "")
    if given is None:
        settings = environ.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
        path = Path(settings) / "git" / name if settings else None
    elif given.startswith("~/"):
        path = Path(home) / given[2:]
    else:
        path = repository.root / given
    return path if path is not None and path.is_file() else None


def _config(repository: Repository, folder: Path, environ: Mapping[str, str]) -> str:
    sha256 = repository.hash == "sha256"
    lines = ["[core]", f"repositoryformatversion = {int(sha256)}", "bare = false"]
    lines += ["looseCompression = 1", "bigFileThreshold = 16m", "safecrlf = false"]
    lines += ["untrackedCache = false", "splitIndex = false", "fsmonitor = false"]
    lines += [
        f"{name} = {_quoted(repository.settings[name])}"
        for name in _KEPT
        if name in repository.settings
    ]
    attributes = user_file(repository, "attributes", environ)
    lines.append(f"excludesFile = {_quoted(str(folder / 'ignored'))}")
    lines.append(f"attributesFile = {_quoted(str(attributes or os.devnull))}")
    if sha256:
        lines += ["[extensions]", "objectFormat = sha256"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _write_excludes(repository: Repository, folder: Path, environ: Mapping[str, str]) -> None:
    """Put the user's two lists of ignored files into one; the later of two rules counts."""
    own = user_file(repository, "ignore", environ)
    parts = [] if own is None else [own]
    parts.append(repository.common_dir / "info" / "exclude")
    texts = []
    for part in parts:
        try:
            texts.append(part.read_bytes())
        except OSError:
            continue
    (folder / "ignored").write_bytes(b"\n".join(texts))


def _copy(source: Path, target: Path) -> None:
    """Copy a file that git may replace meanwhile, with the time of change that its content has."""
    try:
        with source.open("rb") as original:
            status = os.fstat(original.fileno())
            with target.open("wb") as copy:
                shutil.copyfileobj(original, copy)
    except FileNotFoundError:
        return
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
