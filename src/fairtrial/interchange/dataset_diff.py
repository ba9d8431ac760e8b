"""What differs between two versions of a dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.json import canonical_json
from fairtrial.ports import CaseOutline


@dataclass(frozen=True, slots=True)
class DatasetDiff:
    """What differs between two versions, A and B. A case is the same by its id and condition.

    Attributes:
        added: Cases only B has, in B's order.
        removed: Cases only A has, in A's order.
        changed: Cases both have with another content, in B's order.
        same: How many cases both have with the same content.
        moved: Whether the cases that both have stand in another order.
    """

    added: tuple[CaseKey, ...]
    removed: tuple[CaseKey, ...]
    changed: tuple[CaseKey, ...]
    same: int
    moved: bool

    @property
    def is_empty(self) -> bool:
        """A and B are the same cases in the same order."""
        return not (self.added or self.removed or self.changed or self.moved)


def diff_versions(a: Iterable[CaseOutline], b: Iterable[CaseOutline]) -> DatasetDiff:
    """Return what differs between two versions.

    Args:
        a: The outlines of one version, in their order.
        b: Those of the other.
    """
    before = {_key(outline): outline.digest for outline in a}
    after = {_key(outline): outline.digest for outline in b}
    common = [key for key in after if key in before]
    changed = tuple(key for key in common if before[key] != after[key])
    return DatasetDiff(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=changed,
        same=len(common) - len(changed),
        moved=common != [key for key in before if key in after],
    )


def fields_changed(a: Case, b: Case) -> tuple[str, ...]:
    """Return the names of the fields in which two cases differ, in the order of `Case`.

    True, 1 and 1.0 are three values here, as they are in a content hash.
    """
    before, after = a.content(), b.content()
    return tuple(
        name for name in before if canonical_json(before[name]) != canonical_json(after[name])
    )


def _key(outline: CaseOutline) -> CaseKey:
    return CaseKey(outline.id, outline.condition)
