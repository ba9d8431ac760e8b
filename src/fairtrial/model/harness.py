"""A harness: the files that steer a coding agent in a repository."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Harness:
    """The instructions, rules, skills, agents and commands of a repository, as one bundle.

    Attributes:
        files: Texts by their paths from the root of the repository, in the order of the paths.
        label: Where it comes from, for people: `git:HEAD`, `the edits of the working tree`.
        links: Paths of `files` that are symbolic links, and what they lead to; a text that two
            paths share is one text for some agents.
        notes: What was left out or read otherwise than it is, and why: sentences.
    """

    files: Mapping[str, str]
    label: str
    links: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of paths and texts, in hexadecimal digits; nothing else counts."""
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
        private: Whether the agent calls it a user's own, which is not checked in.
    """

    path: str
    text: str
    private: bool = False
