"""Selection: each criterion, their order, and the stability of a draw."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.engine.selection import Criteria, select, split_names
from fairtrial.model.case import CaseKey
from fairtrial.ports import CaseOutline


def outlines(n: int, conditions: tuple[str, ...] = ("default",)) -> list[CaseOutline]:
    keys = [(f"c{i:02}", condition) for i in range(n) for condition in conditions]
    return [
        CaseOutline(at, case_id, condition, "test" if at % 2 else "train", "0" * 64)
        for at, (case_id, condition) in enumerate(keys)
    ]


def ids(criteria: Criteria, n: int = 10) -> list[str]:
    return [outline.id for outline in select(outlines(n), criteria)]


def test_without_criteria_all_cases_are_selected_in_order() -> None:
    assert ids(Criteria()) == [f"c{n:02}" for n in range(10)]


def test_each_criterion_narrows() -> None:
    assert ids(Criteria(split="test")) == ["c01", "c03", "c05", "c07", "c09"]
    assert ids(Criteria(patterns=("c0[", "c?4", "c09"))) == ["c04", "c09"]
    assert ids(Criteria(among=frozenset({CaseKey("c03"), CaseKey("c04", "attack")}))) == ["c03"]
    assert ids(Criteria(split="test", first_n=2)) == ["c01", "c03"]


def test_brackets_in_a_pattern_mean_themselves() -> None:
    named = [replace(outline, id=f"f[{outline.position}]") for outline in outlines(3)]
    assert [o.id for o in select(named, Criteria(patterns=("f[1]",)))] == ["f[1]"]
    assert [o.id for o in select(named, Criteria(patterns=("?[0]", "f[[]2]")))] == ["f[0]"]


def test_first_n_comes_after_the_draw() -> None:
    drawn = ids(Criteria(sample=5))
    assert ids(Criteria(sample=5, first_n=2)) == drawn[:2]


def test_a_case_is_drawn_with_all_its_conditions() -> None:
    chosen = select(outlines(10, ("clean", "attack")), Criteria(sample=3))
    assert len(chosen) == 6
    assert len({outline.id for outline in chosen}) == 3


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 1000))
def test_a_draw_has_the_size_asked_and_repeats(n: int, size: int, seed: int) -> None:
    drawn = ids(Criteria(sample=size, sample_seed=seed), n)
    assert len(drawn) == min(size, n)
    assert drawn == ids(Criteria(sample=size, sample_seed=seed), n)
    assert drawn == sorted(drawn)


def test_a_share_is_rounded_and_seeds_differ() -> None:
    assert len(ids(Criteria(sample=0.25), 40)) == 10
    draws = {tuple(ids(Criteria(sample=10, sample_seed=seed), 40)) for seed in range(20)}
    assert len(draws) == 20


@given(st.integers(5, 30), st.integers(1, 5))
def test_a_larger_dataset_keeps_most_of_a_draw(n: int, size: int) -> None:
    before = set(ids(Criteria(sample=size), n))
    after = set(ids(Criteria(sample=size), n + 1))
    assert len(before - after) <= 1


def test_split_names_are_sorted() -> None:
    assert split_names(outlines(3)) == ("test", "train")
