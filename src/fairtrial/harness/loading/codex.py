"""What Codex is told of a harness when a session starts, as its version 0.171.0 does it."""

from __future__ import annotations

import posixpath
from typing import Final

from fairtrial.harness.loading.folders import folders_to
from fairtrial.model.harness import Harness, LoadedText

MOST_BYTES: Final = 32 * 1024
"""Bytes of instructions that are read in all: `project_doc_max_bytes` as it comes."""
_NAMES: Final = ("AGENTS.override.md", "AGENTS.md")


def loaded(harness: Harness, cwd: str = "") -> tuple[LoadedText, ...]:
    """Return the texts that a session in a folder is told at its start, in their order.

    From the root down to the folder, AGENTS.override.md or else AGENTS.md, word by word; what is
    blank is passed over, and still hides the other. They are cut at 32 KiB together. Of line ends
    with a carriage return, which Codex keeps, a harness does not know.

    Args:
        harness: The files.
        cwd: The folder of the session, from the root of the repository.

    Raises:
        UsageError: the folder is outside of the repository.
    """
    found = []
    left = MOST_BYTES
    for folder in folders_to(cwd):
        paths = [posixpath.join(folder, name) for name in _NAMES]
        path = next((path for path in paths if path in harness.files), None)
        if path is None or left <= 0:
            continue
        data = harness.files[path].encode("utf-8", "replace")[:left]
        text = data.decode("utf-8", "replace")
        if text.strip():
            found.append(LoadedText(path, text))
            left -= len(data)
    return tuple(found)
