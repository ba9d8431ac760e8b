"""Which row each human label belongs to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from fairtrial.model.case import CaseKey
from fairtrial.model.errors import UsageError


class Label(Protocol):
    """What all labels have."""

    @property
    def case_id(self) -> str:
        """The case."""
        ...

    @property
    def condition(self) -> str | None:
        """Its condition, if given."""
        ...

    @property
    def where(self) -> str:
        """File and line."""
        ...


L = TypeVar("L", bound=Label)


@dataclass(frozen=True, slots=True)
class Matched(Generic[L]):
    """Labels by row.

    Attributes:
        labels: The label of each row that has one.
        unknown: Cases of labels that fit no row, in the order of the file.
    """

    labels: Mapping[CaseKey, L]
    unknown: tuple[str, ...]


def match_labels(labels: Iterable[L], keys: Collection[CaseKey]) -> Matched[L]:
    """Find the row of each label; one without a condition fits a case that has only one.

    Args:
        labels: Labels of one file and one criterion.
        keys: The rows there are.

    Raises:
        UsageError: a case has several conditions and its label names none, or two labels fit one
            row.
    """
    conditions: dict[str, list[str]] = {}
    for key in keys:
        conditions.setdefault(key.case_id, []).append(key.condition)
    found: dict[CaseKey, L] = {}
    unknown: list[str] = []
    for label in labels:
        there = conditions.get(label.case_id, [])
        if not there or (label.condition is not None and label.condition not in there):
            unknown.append(str(CaseKey(label.case_id, label.condition or "default")))
            continue
        key = CaseKey(label.case_id, label.condition or _only(label, there))
        if key in found:
            raise UsageError(
                f"case {str(key)!r} is labelled twice",
                where=label.where,
                why=f"its first label is at {found[key].where}",
                fix="keep one of the two",
            )
        found[key] = label
    return Matched(found, tuple(unknown))


def _only(label: Label, conditions: Sequence[str]) -> str:
    if len(conditions) > 1:
        names = ", ".join(sorted(conditions))
        raise UsageError(
            f"case {label.case_id!r} ran under several conditions, and its label names none",
            where=label.where,
            fix=f'add "condition": one of {names}',
        )
    return conditions[0]
