"""Options of `sessions checkout`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Write the repository as it was before a session into a new folder.

    It comes from the snapshot that was taken then, or else from the commit that the session began
    at and what its transcript tells of files that differed from it. What cannot be told is listed.
    Your repository, its index and its branches are not touched.
    """

    session: str = option(positional=True)
    """Session id, prefix, agent's own id, latest or latest#-N"""
    folder: Path = option(positional=True)
    """Where to write: a new folder, or an empty one"""
    repo: Path | None = option(None, metavar="DIR")
    """A clone that holds the commit, when the session's own repository is gone"""
    force: bool = option(default=False)
    """Write it even when what the transcript tells contradicts the commit"""


EXAMPLES = (
    "fairtrial sessions checkout latest ./before",
    "fairtrial sessions checkout ses_5rf4je ./before --repo ~/src/shop --json",
)
