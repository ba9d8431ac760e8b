"""Paths that a user gives."""

from __future__ import annotations

from pathlib import Path

from fairtrial.model.errors import NotFoundError


def user_path(given: str | Path, start: Path, where: str | None = None) -> Path:
    """Return a path of the user's as an absolute one.

    Args:
        given: The path; `~` is a home folder.
        start: Where a relative one starts.
        where: What gave it, for the error message.

    Raises:
        NotFoundError: it starts at the home folder of nobody.
    """
    try:
        return start / Path(given).expanduser()
    except RuntimeError as error:
        raise NotFoundError(
            f"there is no home folder for {str(given)!r}",
            where=where,
            why=str(error),
            fix="write the whole path",
        ) from None


def current_folder() -> Path:
    """Return the current folder.

    Raises:
        NotFoundError: it was removed.
    """
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise NotFoundError(
            "the current folder does not exist any more", fix="change to one that does"
        ) from None
