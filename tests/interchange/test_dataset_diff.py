"""What differs between two dataset versions."""

from __future__ import annotations

from dataclasses import replace

from fairtrial.interchange.dataset_diff import DatasetDiff, diff_versions, fields_changed
from fairtrial.model.case import Case, CaseKey
from fairtrial.model.json import content_hash
from fairtrial.ports import CaseOutline


def outlines(*cases: Case) -> list[CaseOutline]:
    return [
        CaseOutline(position, case.id, case.condition, case.split, content_hash(case.content()))
        for position, case in enumerate(cases)
    ]


A, B, C = Case("a", 1), Case("b", 2), Case("c", 3)
ATTACK = replace(A, condition="attack")


def test_the_same_version_differs_in_nothing() -> None:
    diff = diff_versions(outlines(A, B), outlines(A, B))
    assert diff == DatasetDiff((), (), (), 2, moved=False)
    assert diff.is_empty


def test_added_removed_and_changed_are_told_by_id_and_condition() -> None:
    diff = diff_versions(outlines(A, B), outlines(replace(A, expected=5), ATTACK, C))
    assert diff == DatasetDiff(
        added=(CaseKey("a", "attack"), CaseKey("c")),
        removed=(CaseKey("b"),),
        changed=(CaseKey("a"),),
        same=0,
        moved=False,
    )
    assert not diff.is_empty


def test_order_counts_only_among_common_cases() -> None:
    assert diff_versions(outlines(A, B), outlines(B, A)).moved
    assert not diff_versions(outlines(A, B), outlines(C, A, B)).moved
    assert not diff_versions(outlines(A, B, C), outlines(A, C)).moved


def test_changed_fields_are_named() -> None:
    assert fields_changed(A, A) == ()
    assert fields_changed(A, replace(A, input=True)) == ("input",)
    assert fields_changed(A, replace(A, input=1.0)) == ("input",)
    assert fields_changed(A, replace(A, metadata={"k": 1}, tags=("x",), split="test")) == (
        "metadata",
        "tags",
        "split",
    )
