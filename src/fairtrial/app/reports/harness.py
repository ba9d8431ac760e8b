"""What `harness show`, `harness diff` and `harness save` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.harness.belonging import Part, part_of
from fairtrial.harness.edits import Change
from fairtrial.model.harness import Harness, LoadedText
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent is told when a session starts.

    Attributes:
        agent: The agent.
        texts: The texts, in their order.
        listed: The lines by which it knows of skills and commands.
    """

    agent: str
    texts: Sequence[LoadedText]
    listed: Sequence[str]


def size(text: str) -> int:
    """Return how many bytes a text has."""
    return len(text.encode("utf-8", "replace"))


def tokens(text: str) -> int:
    """Return about how many tokens a text has: one for each four characters."""
    return -(-len(text) // 4)


def harness_json(harness: Harness) -> dict[str, Json]:
    """Return what a harness is, without its texts."""
    return {"label": harness.label, "digest": harness.digest, "files": len(harness.files)}


@dataclass(frozen=True, slots=True)
class HarnessReport(Informing):
    """A harness, and what agents are told of it.

    Attributes:
        harness: The files.
        cwd: The folder that sessions start in, from the root.
        told: What each agent is told.
        conflicts: Files with a merge conflict in them, and its line.
        in_full: Whether the texts are to be read.
    """

    schema: ClassVar[str] = "fairtrial.harness/1"

    harness: Harness
    cwd: str
    told: Sequence[Told]
    conflicts: Mapping[str, int]
    in_full: bool

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "label": self.harness.label,
            "digest": self.harness.digest,
            "files": [
                {
                    "path": path,
                    "part": (part_of(path) or Part.IMPORTED).value,
                    "bytes": size(text),
                    "link": self.harness.links.get(path),
                    "conflict": self.conflicts.get(path),
                }
                for path, text in self.harness.files.items()
            ],
            "cwd": self.cwd or ".",
            "told": [_told_json(one) for one in self.told],
            "notes": list(self.harness.notes),
        }


def _told_json(told: Told) -> dict[str, Json]:
    return {
        "agent": told.agent,
        "tokens": sum(tokens(one.text) for one in told.texts),
        "texts": [
            {
                "path": one.path,
                "bytes": size(one.text),
                "tokens": tokens(one.text),
                "private": one.private,
                "text": one.text,
            }
            for one in told.texts
        ],
        "listed": list(told.listed),
    }


@dataclass(frozen=True, slots=True)
class HarnessDiffReport(Informing):
    """What differs between two harnesses.

    Attributes:
        a: The baseline.
        b: The candidate.
        said: In one line, what was taken for each.
        changes: The files that differ.
        diff: A unified diff.
    """

    schema: ClassVar[str] = "fairtrial.harness_diff/1"

    a: Harness
    b: Harness
    said: str
    changes: Sequence[Change]
    diff: str

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "said": self.said,
            "a": harness_json(self.a),
            "b": harness_json(self.b),
            "changes": [change_json(one) for one in self.changes],
            "diff": self.diff,
            "notes": list(dict.fromkeys((*self.a.notes, *self.b.notes))),
        }


@dataclass(frozen=True, slots=True)
class HarnessSavedReport(Informing):
    """A harness that was saved.

    Attributes:
        harness: What was saved.
        path: Where.
    """

    schema: ClassVar[str] = "fairtrial.harness_saved/1"

    harness: Harness
    path: Path

    def json(self) -> dict[str, Json]:
        """Return the report as one JSON object."""
        return {
            "schema": self.schema,
            "path": str(self.path),
            **harness_json(self.harness),
            "notes": list(self.harness.notes),
        }


def change_json(change: Change) -> dict[str, Json]:
    """Return what happened to a file."""
    return {
        "kind": change.kind.value,
        "path": change.path,
        "old_path": change.old_path,
        "added": change.added,
        "removed": change.removed,
    }
