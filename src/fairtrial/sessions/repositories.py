"""Which git repository a session worked in, looked up once for each folder."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath


class Repositories:
    """Finds the roots of repositories by their `.git`; no program is run for it."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def around(self, folder: str | None) -> str | None:
        """Return the root of the repository around a folder.

        None when there is none, when the folder is gone, or when it was on another kind of system.
        """
        if folder is None:
            return None
        if folder not in self._known:
            self._known[folder] = _root(folder)
        return self._known[folder]


def git_folder(folder: str) -> Path | None:
    """Return the folder that git keeps the commits around a folder in; worktrees share one.

    Of a folder that is gone, those around the nearest one that is left. None when there is none.
    """
    if "\0" in folder or not PurePosixPath(folder).is_absolute() or _on_windows(folder):
        return None
    place = Path(folder)
    try:
        for around in (place, *place.parents):
            if (around / ".git").is_dir():
                return (around / ".git").resolve()
            if (around / ".git").is_file():
                return _shared(around, (around / ".git").read_text(encoding="utf-8"))
            if _is_bare(around):
                return around.resolve()
    except (OSError, ValueError):
        return None
    return None


def _shared(root: Path, pointer: str) -> Path:
    """Return where the `.git` file of a worktree or a submodule leads to in the end."""
    own = root / pointer.partition(":")[2].strip()
    common = own / "commondir"
    return (own / common.read_text(encoding="utf-8").strip() if common.is_file() else own).resolve()


def _root(folder: str) -> str | None:
    if "\0" in folder or not PurePosixPath(folder).is_absolute() or _on_windows(folder):
        return None
    place = Path(folder)
    try:
        if not place.is_dir():
            return None
        for around in (place, *place.parents):
            # A file in a worktree and in a submodule; a bare repository holds its parts itself.
            if (around / ".git").exists() or _is_bare(around):
                return str(around)
    except OSError:
        return None
    return None


def _on_windows(folder: str) -> bool:
    return bool(PureWindowsPath(folder).drive)


def _is_bare(place: Path) -> bool:
    return (place / "HEAD").is_file() and (place / "objects").is_dir() and (place / "refs").is_dir()
