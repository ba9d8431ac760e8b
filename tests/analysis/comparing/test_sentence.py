"""The last line says what it all means."""

from __future__ import annotations

from tests.analysis.comparing.conftest import cases, compared

SAME = cases([1, 0] * 20, 1)


def sentence(a: list[int], b: list[int], decided: int = 1) -> str:
    return compared(cases(a, decided), cases(b, decided)).comparison.sentence


def test_better() -> None:
    assert sentence([0] * 20 + [1] * 20, [1] * 15 + [0] * 5 + [1] * 20) == (
        "cand is better than base: it passes 37.5 points more (50.0 % → 87.5 %), and luck alone "
        "makes a gap like this less than once in 10,000 comparisons."
    )


def test_worse() -> None:
    text = sentence([1] * 8 + [0] * 12, [0] * 20)
    assert text.startswith("cand is worse than base: it passes 40.0 points less (40.0 % → 0.0 %)")
    # McNemar's mid-p of 8 against 0 is 1 in 256
    assert text.endswith("luck alone makes a gap like this about once in 256 comparisons.")


def test_not_decided() -> None:
    text = sentence([0] * 3 + [1] * 17, [1] * 2 + [0] + [1] * 16 + [0])
    assert text.startswith("Not decided: cand passes 5.0 points more than base, but it may be luck")
    assert "worse to" in text
    assert "With 20 cases only a gap of" in text
    assert "5.0 points less" in sentence([1] * 20, [0] + [1] * 19)


def test_no_difference_is_not_certainty() -> None:
    text = compared(SAME, SAME).comparison.sentence
    assert text.startswith("No difference seen: cand passes as often as base; the true gap lies")
    assert "8.8 points worse to 8.8 points better" in text


def test_an_interval_that_equal_cases_do_not_have_is_no_certainty() -> None:
    for a, gap in ((1, "none"), (0, "100.0 points better")):
        base, cand = cases([a] * 30, 1), cases([1] * 30, 1)
        for ci in ("t", "bootstrap"):
            assert compared(base, cand, ci=ci).comparison.sentence == (
                f"Not decided: the gap between cand and base is the same in 30 cases ({gap}), and "
                "the interval that was asked for says nothing of such cases; another one does."
            )


def test_one_case_proves_nothing() -> None:
    for decided in (1, 3):
        assert sentence([0], [decided], decided) == (
            "Too little to tell: cand and base share 1 case with a verdict, and that proves "
            "nothing."
        )
    found = compared(SAME, SAME, clusters=["one"] * 40).comparison
    assert "40 cases with a verdict, all in one cluster, and that proves" in found.sentence


def test_two_cases_have_no_visible_gap() -> None:
    assert "reliably show" not in sentence([0, 3], [3, 0], 3)
