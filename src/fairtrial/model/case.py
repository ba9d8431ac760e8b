"""A case: one input with what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fairtrial.model.json import Json, content_hash

DEFAULT_CONDITION = "default"


class CaseKey(NamedTuple):
    """What names a row in every experiment: a case id under a condition."""

    case_id: str
    condition: str = DEFAULT_CONDITION

    def __str__(self) -> str:
        suffix = "" if self.condition == DEFAULT_CONDITION else f" [{self.condition}]"
        return self.case_id + suffix


@dataclass(frozen=True, slots=True)
class Case:
    """One input with its expected output, under one condition.

    Attributes:
        id: Given, or `case_` and the first 16 digits of the hash of the input.
        input: Any JSON value; what the task gets.
        expected: Any JSON value; what graders compare with. None when nothing is expected.
        metadata: Named facts about the case, e.g. the repository it comes from (a cluster key).
        tags: Labels to filter and group by.
        split: `train`, `test` or any other name; None when the dataset is not split.
        condition: The variant of the case, e.g. `clean` or `attack`.
    """

    id: str
    input: Json
    expected: Json = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    split: str | None = None
    condition: str = DEFAULT_CONDITION

    @property
    def key(self) -> CaseKey:
        """The id and the condition."""
        return CaseKey(self.id, self.condition)

    def content(self) -> dict[str, Json]:
        """Return everything the case says, as one JSON object; the ground of its hash."""
        return {
            "id": self.id,
            "input": self.input,
            "expected": self.expected,
            "metadata": dict(self.metadata),
            "tags": list(self.tags),
            "split": self.split,
            "condition": self.condition,
        }


def case_id_of(case_input: Json) -> str:
    """Return the id of a case that was given none: a hash of its input."""
    return f"case_{content_hash(case_input)[:16]}"
