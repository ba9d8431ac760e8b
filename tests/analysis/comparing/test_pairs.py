"""What became of each row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.comparing.conftest import Trials, arm, compared, grader, paired, side

from fairtrial.analysis.comparing.compare import compare
from fairtrial.analysis.comparing.pairs import within_noise
from fairtrial.model.comparison import LISTED, PAIRED, Change, FlipNoise

MIRROR = {
    Change.FIXED: Change.BROKEN,
    Change.BROKEN: Change.FIXED,
    Change.IMPROVED: Change.REGRESSED,
    Change.REGRESSED: Change.IMPROVED,
    Change.NEW: Change.DROPPED,
    Change.DROPPED: Change.NEW,
}


@pytest.mark.parametrize(
    ("a", "b", "change"),
    [
        ((0, 1), (1, 1), Change.FIXED),
        ((1, 1), (0, 1), Change.BROKEN),
        ((1, 3), (3, 3), Change.FIXED),
        ((2, 3), (3, 3), Change.IMPROVED),
        ((3, 3), (2, 3), Change.REGRESSED),
        ((0, 3), (1, 3), Change.IMPROVED),
        ((1, 2), (2, 2), Change.FIXED),  # one of two is not solved
        ((1, 3), (3, 9), Change.SAME),  # the same rate over more trials
        ((1, 1), (1, 1), Change.SAME),
        ((0, 0), (1, 1), Change.UNDECIDED),
        ((1, 1), (0, 0), Change.UNDECIDED),
    ],
)
def test_a_row_is_classed_by_its_trials(
    a: tuple[int, int], b: tuple[int, int], change: Change
) -> None:
    found = compared({"c": a}, {"c": b}).comparison
    assert {name: count for name, count in found.counts.items() if count} == {change: 1}


def test_rows_pair_by_key_whatever_their_place() -> None:
    a = {"x": (0, 1), "y": (1, 1), "gone": (1, 1)}
    b = {"added": (0, 1), "y": (1, 1), "x": (1, 1)}
    found = compared(a, b).comparison
    assert [row.key.case_id for row in found.rows[Change.FIXED]] == ["x"]
    assert [row.key.case_id for row in found.rows[Change.NEW]] == ["added"]
    assert [row.key.case_id for row in found.rows[Change.DROPPED]] == ["gone"]
    assert found.counts[Change.SAME] == 1
    (new,), (dropped,) = found.rows[Change.NEW], found.rows[Change.DROPPED]
    assert (new.a, dropped.b) == (None, None)
    assert (new.reason, dropped.reason) == ("added differs", None)


def test_numeric_scores_improve_without_a_flip() -> None:
    trials: Trials = {"up": (1, 1), "down": (1, 1), "as before": (1, 1)}
    a = arm(trials, scores=[0.6, 0.9, 0.7])
    b = arm(trials, scores=[0.9, 0.6, 0.7 + 1e-12])
    counts = compare(side("a"), side("b"), paired(a, b)).comparison.counts
    assert [counts[change] for change in PAIRED] == [0, 0, 1, 1, 1]


def test_scores_of_other_graders_do_not_count() -> None:
    trials: Trials = {"c": (1, 1)}
    style = {"name": "style", "kind": "judge", "required": False}
    other = side("b", spec={"graders": [*side("a").state.experiment.spec["graders"], style]})
    rows = paired(arm(trials, scores=[0.6]), arm(trials, scores=[0.9]))
    assert compare(side("a"), other, rows).comparison.counts[Change.SAME] == 1


@pytest.mark.parametrize(
    ("shape", "luck"),
    [
        ((0, 1, 1, 1), None),  # one trial tells nothing
        ((0, 2, 2, 2), None),
        ((0, 3, 3, 3), False),
        ((1, 3, 3, 3), True),
        ((1, 5, 5, 5), False),
        ((2, 5, 4, 5), True),
    ],
)
def test_a_flip_may_be_the_luck_of_its_own_trials(
    shape: tuple[int, int, int, int], *, luck: bool | None
) -> None:
    assert within_noise(*shape) is luck
    passed_a, decided_a, passed_b, decided_b = shape
    found = compared({"c": (passed_a, decided_a)}, {"c": (passed_b, decided_b)}).comparison
    assert found.rows[Change.FIXED][0].within_noise is luck
    assert found.noise == FlipNoise(luck is True, luck is False, luck is None)


def test_reasons_tell_of_the_side_that_is_worse() -> None:
    found = compared({"f": (0, 1), "b": (1, 1)}, {"f": (1, 1), "b": (0, 1)}).comparison
    assert found.rows[Change.FIXED][0].reason == "f differs"
    assert found.rows[Change.BROKEN][0].reason == "b differs"


def test_lists_are_sorted_and_sliced() -> None:
    found = compared(dict.fromkeys("dbca", (0, 1)), dict.fromkeys("abcd", (1, 1))).comparison
    rows = found.rows[Change.FIXED]
    assert [row.key.case_id for row in rows] == list("abcd")
    assert [row.key.case_id for row in rows[1:3]] == list("bc")
    assert rows[-1].key.case_id == "d"
    assert set(found.rows) == set(LISTED)


COUNTS = st.integers(0, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
ARMS = st.dictionaries(st.sampled_from([f"c{n}" for n in range(12)]), COUNTS)


@given(ARMS, ARMS)
def test_swapping_the_sides_mirrors_everything(a: Trials, b: Trials) -> None:
    there, back = compared(a, b).comparison, compared(b, a).comparison
    for change in Change:
        assert there.counts[change] == back.counts[MIRROR.get(change, change)]
    for kind in ("delta", *range(len(there.graders))):
        first, second = (
            (there.delta, back.delta)
            if kind == "delta"
            else (there.graders[int(kind)].delta, back.graders[int(kind)].delta)
        )
        assert (first.a, first.b, first.n) == (second.b, second.a, second.n)
        assert (first.p, first.p_adjusted) == (second.p, second.p_adjusted)
        mirrored = (second.estimate, second.upper, second.lower)
        for value, other in zip((first.estimate, first.lower, first.upper), mirrored, strict=True):
            assert value == (None if other is None else pytest.approx(-other, abs=1e-9))
    assert there.matrix == {(a, b): n for (b, a), n in back.matrix.items()}
    assert there.smallest == back.smallest
    assert there.noise == back.noise


@given(ARMS, ARMS, st.randoms(use_true_random=False))
def test_the_order_of_cases_does_not_matter(a: Trials, b: Trials, random: object) -> None:
    shuffled = []
    for trials in (a, b):
        items = list(trials.items())
        random.shuffle(items)  # type: ignore[attr-defined]
        shuffled.append(dict(items))
    one, two = compared(a, b).comparison, compared(*shuffled).comparison
    assert one.counts == two.counts
    assert {change: list(rows) for change, rows in one.rows.items()} == {
        change: list(rows) for change, rows in two.rows.items()
    }
    assert one.delta.p == two.delta.p
    for name in ("estimate", "lower", "upper", "a", "b"):
        value = getattr(one.delta, name)
        assert getattr(two.delta, name) == (value and pytest.approx(value, abs=1e-12))
    assert one.sentence == two.sentence


def test_drawn_signs_do_not_depend_on_the_order_of_cases() -> None:
    values = [((number * 37) % 101) / 101.0 + number * 1e-5 for number in range(60)]
    ids = [f"c{number}" for number in range(60)]

    def p(order: list[int]) -> float | None:
        trials = {ids[number]: (1, 1) for number in order}
        before = dict.fromkeys(trials, 0.3)
        after = {ids[number]: values[number] for number in order}
        rows = paired(arm(trials, graders={"exact": before}), arm(trials, graders={"exact": after}))
        found = compare(side("a"), side("b"), rows).comparison.graders[0].delta
        assert "random flips" in str(found.p_method)
        return found.p

    assert p(list(range(60))) == p(list(range(59, -1, -1)))


def test_graders_without_scores_have_no_delta() -> None:
    trials: Trials = {"c": (1, 1), "d": (1, 1)}
    rows = paired(arm(trials, graders={"exact": {}}), arm(trials))
    (part,) = compare(side("a"), side("b"), rows).comparison.graders
    assert (part.delta.n, part.delta.estimate) == (0, None)
    assert grader([], {}, 0).binary


@given(
    st.integers(0, 150),
    st.none() | st.integers(-3, 160),
    st.none() | st.integers(-3, 160),
    st.sampled_from([None, 1, 2, -1]),
)
def test_a_part_of_the_rows_is_a_part_of_all(
    size: int, start: int | None, stop: int | None, step: int | None
) -> None:
    ids = [f"c{(7 * number) % 151:03}" for number in range(size)]
    found = compared(dict.fromkeys(ids, (1, 1)), dict.fromkeys(ids, (0, 1))).comparison
    part = found.rows[Change.BROKEN][start:stop:step]
    assert [row.key.case_id for row in part] == sorted(ids)[start:stop:step]
    assert [row.key.case_id for row in found.rows[Change.BROKEN]] == sorted(ids)
