"""The instructions that an arm gives its agent, from what a spec names to the files' contents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.schema.text_files import read_text, text_given, text_kept

_MOST_FILES: Final = 500


def settled_harness(
    given: str | Mapping[str, str] | None, base_dir: Path, where: str
) -> dict[str, str] | None:
    """Return the texts of a harness by their paths in the workspace, as a spec keeps them.

    Args:
        given: A file, a folder, or texts and `@FILE`s by path.
        base_dir: Where relative paths start.
        where: What the option comes from, for error messages.

    Raises:
        UsageError: a file cannot be read, or a path leads out of the workspace.
    """
    where = f"{where}, option 'harness'"
    if given is None:
        return None
    if isinstance(given, str):
        texts = _read(given, base_dir, where)
    else:
        texts = {path: text_given(text, base_dir, where) for path, text in given.items()}
    for path in texts:
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts or not pure.parts or pure.parts[0] == ".git":
            raise UsageError(f"{path!r} is no path in a workspace", where=where)
    return {path: text_kept(text) for path, text in sorted(texts.items())}


def harness_files(settled: Mapping[str, str] | None) -> dict[str, bytes]:
    """Return the files of a settled harness; none for None."""
    # `text_given` reads nothing here: what is settled begins with `@@` or holds no mark.
    return {
        path: text_given(text, Path(), path).encode("utf-8")
        for path, text in (settled or {}).items()
    }


def _read(given: str, base_dir: Path, where: str) -> dict[str, str]:
    path = base_dir / Path(given).expanduser()
    if not path.is_dir():
        return {path.name: read_text(given, base_dir, where)}
    files = sorted(file for file in path.rglob("*") if file.is_file() and ".git" not in file.parts)
    if not files:
        raise UsageError(f"there is no file in {path}", where=where)
    if len(files) > _MOST_FILES:
        raise UsageError(f"over {_MOST_FILES} files in {path}", where=where)
    return {file.relative_to(path).as_posix(): read_text(str(file), path, where) for file in files}
