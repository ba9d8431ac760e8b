import numpy as np
import pytest

from fairtrial.analysis.judge_agreement import calibrate, calibrate_pairwise, panel
from fairtrial.analysis.label_correction import label_correction
from fairtrial.stats.agreement.kappa import cohen_kappa, krippendorff_alpha
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.ppi.difference import JudgedArm, judged_arm


def test_calibration_uses_the_cases_that_have_both() -> None:
    judge = [True, True, False, False, None, True, True]
    human = [True, False, False, True, True, None, True]
    found = calibrate(judge, human)
    assert found.confusion is not None
    assert found.confusion.n == 5
    assert found.kappa.estimate == cohen_kappa([1, 1, 0, 0, 1], [1, 0, 0, 1, 1]).estimate
    assert found.corrected is not None
    assert found.corrected.n == 6
    assert found.corrected.estimate is None
    assert "agrees with people on 3 of 5" in found.describe()


def test_calibration_without_common_or_varied_labels() -> None:
    nothing = calibrate([True, None], [None, True])
    assert nothing.confusion is None
    assert "no case has both" in nothing.describe()
    one_sided = calibrate([True, False], [True, True])
    assert one_sided.corrected is None
    assert "only one kind of label" in one_sided.describe()
    with pytest.raises(ArgumentError, match="human"):
        calibrate([True], [])


def test_a_panel_of_judges() -> None:
    judges: dict[str, list[bool | None]] = {
        "x": [True, True, False, None, True],
        "y": [True, False, False, True, True],
        "z": [True, True, False, True, None],
    }
    found = panel(judges)
    assert set(found.pairs) == {("x", "y"), ("x", "z"), ("y", "z")}
    assert found.pairs["x", "y"].n == 4
    assert found.fleiss.n == 3
    assert found.alpha == krippendorff_alpha(list(judges.values()))
    assert "3 raters" in found.describe()
    disjoint = panel({"x": [True, None], "y": [None, True]})
    assert disjoint.fleiss.estimate is None
    assert disjoint.alpha.estimate is None
    lonely: dict[str, list[bool | None]] = {"x": [True]}
    for bad in (lonely, {**lonely, "y": []}):
        with pytest.raises(ArgumentError, match="judges"):
            panel(bad)


def _arm(seed: int, rate: float, chance_of_label: tuple[float, float]) -> JudgedArm:
    rng = np.random.default_rng(seed)
    truth = rng.random(300) < rate
    judge = np.where(rng.random(300) < 0.8, truth, ~truth)
    asked = rng.random(300) < np.where(judge, chance_of_label[1], chance_of_label[0])
    return judged_arm(np.where(asked, truth.astype(float), np.nan), judge.astype(float))


def test_random_labels_headline_ppi() -> None:
    found = label_correction(_arm(1, 0.5, (0.3, 0.3)), _arm(2, 0.6, (0.3, 0.3)))
    assert not found.selected
    assert found.headline is found.ppi
    assert "random sample" in found.describe()


def test_labels_picked_by_verdict_headline_the_post_stratified_difference() -> None:
    found = label_correction(_arm(1, 0.5, (0.5, 0.12)), _arm(2, 0.6, (0.5, 0.12)))
    assert found.selected
    assert found.headline is found.post_stratified
    assert "weighted back" in found.describe()


def test_labels_of_one_verdict_only_are_refused() -> None:
    found = label_correction(_arm(1, 0.5, (0.5, 0.0)), _arm(2, 0.6, (0.5, 0.0)))
    assert found.headline is None
    assert "picked by the judge's verdict" in found.describe()


def test_too_few_labels_are_refused() -> None:
    found = label_correction(_arm(1, 0.5, (0.03, 0.03)), _arm(2, 0.6, (0.03, 0.03)))
    assert found.headline is None
    assert "at least 20 labels" in found.reason


def test_a_pairwise_judge_against_people() -> None:
    found = calibrate_pairwise(
        [("a", "a"), ("b", "b"), ("a", "b"), ("tie", "tie"), ("b", "b")],
        ["a", "a", "tie", "tie", None],
    )
    assert found.agreement == 3 / 4
    assert found.estimate == cohen_kappa("abtt", "aatt").estimate
    with pytest.raises(ArgumentError, match="human"):
        calibrate_pairwise([("a", "a")], [])
