"""Options of `harness save`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Keep a harness as one file, to try it or return to it later.

    The file is JSON: the texts by their paths. `exp ab`, `harness show` and `harness diff` take it
    where they take a folder or a commit.
    """

    file: Path = option(positional=True, metavar="FILE")
    """Where to write; what is there is replaced when it is a saved harness, too"""
    source: str | None = option(None, flag="--from", metavar="FILE|DIR|git:REV|BUNDLE|none")
    """What to save, as `harness show` takes it (default: the repository's files as they are)"""


EXAMPLES = (
    "fairtrial harness save before.json",
    "fairtrial harness save main.json --from git:main",
)
