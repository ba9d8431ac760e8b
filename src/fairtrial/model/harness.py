"""A harness: the files that steer a coding agent in a repository."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Harness:
    """The instructions, rules, skills, agents and commands of a repository, as one bundle.

    Attributes:
        files: Texts by their paths from the root of the repository, in the order of the paths.
        label: Where it comes from, for people: `git:HEAD`, `the edits of the working tree`.
    """

    files: Mapping[str, str]
    label: str

    @cached_property
    def digest(self) -> str:
        """SHA-256 of paths and texts, in hexadecimal digits; the label does not count."""
        found = hashlib.sha256()
        for path, text in sorted(self.files.items()):
            for part in (path, text):
                data = part.encode("utf-8", "surrogatepass")
                found.update(len(data).to_bytes(8, "big") + data)
        return found.hexdigest()


@dataclass(frozen=True, slots=True)
class LoadedText:
    """A text of a harness that an agent is told when a session begins.

    Attributes:
        path: Its path from the root of the repository.
        text: What the agent is told of it, as the agent itself would cut and expand it.
    """

    path: str
    text: str
