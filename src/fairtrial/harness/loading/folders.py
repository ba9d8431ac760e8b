"""The folders between the root of a repository and that of a session."""

from __future__ import annotations

import posixpath

from fairtrial.model.errors import UsageError


def folders_to(cwd: str) -> list[str]:
    """Return the folders from the root, which is `""`, down to one.

    Raises:
        UsageError: the folder is outside of the repository.
    """
    plain = posixpath.normpath(cwd) if cwd else ""
    if plain in {"", "."}:
        return [""]
    if plain.startswith(("/", "../")) or plain == "..":
        raise UsageError(f"{cwd} is no folder in the repository", fix="give one below its root")
    parts = plain.split("/")
    return ["", *("/".join(parts[: count + 1]) for count in range(len(parts)))]
