import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater as oracle

from fairtrial.stats.agreement.confusion import Confusion, confusion, rogan_gladen
from fairtrial.stats.agreement.kappa import (
    cohen_kappa,
    cohen_kappa_of_table,
    fleiss_kappa,
    krippendorff_alpha,
)
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.proportion import wilson

tables = st.lists(st.lists(st.integers(1, 30), min_size=3, max_size=3), min_size=3, max_size=3)
verdicts = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2)


@given(tables)
def test_cohen_agrees_with_statsmodels(table: list[list[int]]) -> None:
    theirs = oracle.cohens_kappa(np.array(table))
    ours = cohen_kappa_of_table(table)
    assert ours.estimate == pytest.approx(float(theirs.kappa), abs=1e-10)
    assert ours.se == pytest.approx(float(theirs.std_kappa), abs=1e-10)
    assert ours.n == np.sum(table)


@given(verdicts)
def test_cohen_does_not_care_who_comes_first_or_what_things_are_called(
    pairs: list[tuple[str, str]],
) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one = cohen_kappa(first, second)
    other = cohen_kappa([b.upper() for b in second], [a.upper() for a in first])
    assert (one.estimate is None) == (other.estimate is None)
    if one.estimate is not None:
        assert other.estimate == pytest.approx(one.estimate)


@given(
    st.integers(2, 6).flatmap(
        lambda raters: st.lists(
            st.lists(st.integers(0, 2), min_size=raters, max_size=raters), min_size=2, max_size=12
        )
    )
)
def test_fleiss_agrees_with_statsmodels(rows: list[list[int]]) -> None:
    table = np.array([[row.count(c) for c in range(3)] for row in rows])
    if (table.sum(axis=0) == table.sum()).any():
        assert fleiss_kappa(table).estimate is None
        return
    assert fleiss_kappa(table).n == len(rows)
    assert fleiss_kappa(table).raters == len(rows[0])
    assert fleiss_kappa(table).estimate == pytest.approx(oracle.fleiss_kappa(table), abs=1e-10)


def test_krippendorff_by_definition_with_missing_ratings() -> None:
    ratings = [["x", "y", None, "x", "z"], ["x", "x", "y", "x", None], [None, "y", "y", "z", None]]
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    units = [u for u in units if len(u) > 1]
    values = [v for u in units for v in u]
    n = len(values)
    observed = (
        sum(
            sum(a != b for i, a in enumerate(u) for j, b in enumerate(u) if i != j) / (len(u) - 1)
            for u in units
        )
        / n
    )
    expected = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (
        n * (n - 1)
    )
    found = krippendorff_alpha(ratings)
    assert found.estimate == pytest.approx(1 - observed / expected)
    assert (found.n, found.raters) == (4, 3)
    assert found.agreement == pytest.approx(1 - observed)


def test_constant_ratings_leave_kappa_undefined_and_agreement_full() -> None:
    for found in (
        cohen_kappa([1, 1, 1], [1, 1, 1]),
        fleiss_kappa([[3, 0], [3, 0]]),
        krippendorff_alpha([[1, 1], [1, 1]]),
    ):
        assert found.estimate is None
        assert found.agreement == pytest.approx(1.0)
        assert "undefined" in found.describe()
    assert cohen_kappa([], []).agreement is None
    assert cohen_kappa_of_table([[0, 0], [0, 0]]).estimate is None
    assert cohen_kappa_of_table([[0, 0], [0, 0]]).raters == 2
    assert fleiss_kappa(np.zeros((0, 2))).estimate is None
    assert krippendorff_alpha([[1, None], [None, 2]]).reason == "no case has two ratings"


@pytest.mark.parametrize(
    "table", [[[8, 0], [9, 0]], [[1, 0], [2, 0]], [[7, 3, 0], [0, 0, 0], [0, 0, 0]]]
)
def test_a_rater_who_always_says_the_same_leaves_no_interval(table: list[list[int]]) -> None:
    """Kappa is then 0 whatever the other one says: that is no certainty that it is 0."""
    found = cohen_kappa_of_table(table)
    assert found.estimate == pytest.approx(0.0, abs=1e-12)
    assert found.interval is None
    assert found.se == 0.0
    assert found.reason


def test_perfect_agreement_is_one_without_an_interval() -> None:
    found = cohen_kappa([1, 0, 1], [1, 0, 1])
    assert found.estimate == 1.0
    assert found.interval is None
    assert krippendorff_alpha([[1, 0, 1], [1, 0, 1]]).estimate == 1.0


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_confusion_rates(tp: int, fp: int, fn: int, tn: int) -> None:
    pairs = [(1, 1)] * tp + [(1, 0)] * fp + [(0, 1)] * fn + [(0, 0)] * tn
    found = confusion([j for j, _ in pairs], [h for _, h in pairs])
    assert found == Confusion(tp, fp, fn, tn)
    assert found.tpr == (tp / (tp + fn) if tp + fn else None)
    assert found.tnr == (tn / (tn + fp) if tn + fp else None)
    assert found.accuracy == ((tp + tn) / len(pairs) if pairs else None)
    assert found.tpr_interval == (wilson(tp, tp + fn) if tp + fn else None)
    assert found.tnr_interval == (wilson(tn, tn + fp) if tn + fp else None)


def test_confusion_in_words() -> None:
    assert Confusion(0, 0, 0, 0).describe() == "The judge and people have no case in common."
    text = Confusion(8, 0, 2, 0).describe()
    assert "recognises 80 % of the good ones" in text
    assert "nothing bad" in text


def test_rogan_gladen() -> None:
    found = rogan_gladen(120, 200, 0.9, 0.8)
    assert found.raw == pytest.approx((0.6 - 0.2) / 0.7)
    assert found.estimate == found.raw
    assert rogan_gladen(200, 200, 0.7, 0.8).estimate == 1.0
    assert rogan_gladen(0, 200, 0.7, 0.8).estimate == 0.0
    coin = rogan_gladen(120, 200, 0.6, 0.55)
    assert coin.estimate is None
    assert "worth 0.15" in coin.describe()
    assert "57.1 %" in found.describe()
    assert rogan_gladen(1, 2, 0.75, 0.75, least_youden=0.5).estimate == pytest.approx(0.5)
    assert found.youden == pytest.approx(0.7)
    assert found.n == 200


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: cohen_kappa([1], []), "second"),
        (lambda: cohen_kappa_of_table([[1, 2]]), "table"),
        (lambda: cohen_kappa_of_table([[1, -2], [0, 1]]), "table"),
        (lambda: fleiss_kappa([[2, 0], [1, 0]]), "table"),
        (lambda: fleiss_kappa([[1, 0], [0, 1]]), "table"),
        (lambda: krippendorff_alpha([[1], [1, 2]]), "ratings"),
        (lambda: confusion([0.5], [1]), "judge"),
        (lambda: confusion([1], [2]), "human"),
        (lambda: confusion([1], [1, 0]), "judge"),
        (lambda: Confusion(-1, 0, 0, 0), "tp"),
        (lambda: rogan_gladen(3, 2, 1.0, 1.0), "positives"),
        (lambda: rogan_gladen(1, 2, 1.1, 1.0), "tpr"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()
