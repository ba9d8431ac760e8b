"""Corrected differences against ppi-python and statsmodels."""

from __future__ import annotations

import random

import numpy as np
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from statsmodels.stats.inter_rater import cohens_kappa

from fairtrial.analysis.labelled_delta import ArmLabels, Judged, LabelledDelta, labelled_delta
from fairtrial.model.case import CaseKey
from fairtrial.model.delta import Direction

Rows = dict[CaseKey, tuple[Judged, Judged]]


def one_trial(passed: bool) -> Judged:  # noqa: FBT001
    return Judged(passed, int(passed), 1)


def world(
    n: int = 200, labelled: int = 60, seed: int = 5
) -> tuple[Rows, tuple[ArmLabels, ArmLabels]]:
    """Return verdicts that flatter B, with labels of people who do not."""
    draws = random.Random(seed)  # noqa: S311
    rows: Rows = {}
    truths: tuple[dict[CaseKey, bool], dict[CaseKey, bool]] = ({}, {})
    for k in range(n):
        key = CaseKey(f"c{k:03}")
        truth = (draws.random() < 0.5, draws.random() < 0.56)
        generous = (0.05, 0.3)
        said = tuple(
            one_trial(t or draws.random() < g) for t, g in zip(truth, generous, strict=True)
        )
        rows[key] = (said[0], said[1])
        for side in (0, 1):
            truths[side][key] = truth[side]
    chosen = [draws.sample(sorted(rows), labelled) for _ in (0, 1)]
    arms = [ArmLabels({k: truths[side][k] for k in chosen[side]}, skipped=side) for side in (0, 1)]
    return rows, (arms[0], arms[1])


def split(rows: Rows, arm: ArmLabels, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels = np.array([float(arm.passes[k]) for k in rows if k in arm.passes])
    said = np.array([float(rows[k][side].first) for k in rows if k in arm.passes])
    rest = np.array([float(rows[k][side].first) for k in rows if k not in arm.passes])
    return labels, said, rest


def test_the_corrected_difference_is_that_of_ppi_python() -> None:
    rows, arms = world()
    found = labelled_delta(None, rows, arms)
    headline = found.correction.ppi
    assert headline.estimate is not None
    means = [
        # ppi_mean_pointestimate(Y, Yhat, Yhat_unlabeled), its weight chosen from the data.
        ppi_mean_pointestimate(*(v[:, None] for v in split(rows, arms[side], side)), lam=None)[0]
        for side in (0, 1)
    ]
    assert headline.estimate == pytest.approx(float(means[1] - means[0]), abs=1e-9)
    said = [np.mean([both[side].first for both in rows.values()]) for side in (0, 1)]
    assert headline.judge_only == pytest.approx(float(said[1] - said[0]))
    assert found.alone.difference.estimate == pytest.approx(headline.judge_only)
    # Arms labelled on cases of their own: nearly the sum of the two arms' variances.
    widths = [
        np.diff(np.ravel(ppi_mean_ci(*split(rows, arms[side], side), alpha=0.05)))[0]
        for side in (0, 1)
    ]
    assert headline.interval is not None
    assert headline.interval.width == pytest.approx(float(np.hypot(*widths)), rel=0.12)


def test_what_people_do_not_see_is_taken_away() -> None:
    rows, arms = world()
    found = labelled_delta(None, rows, arms)
    assert found.alone.verdict is Direction.BETTER
    assert found.verdict is Direction.INCONCLUSIVE
    assert found.changed == (
        "graders alone find B better, people neither better nor worse beyond luck"
    )
    assert found.shift is not None
    assert found.shift < 0


def test_labels_picked_by_verdict_are_weighted_back() -> None:
    rows, arms = world(n=400, labelled=400)
    draws = random.Random(9)  # noqa: S311

    def more_of_the_failed(side: int) -> ArmLabels:
        share = {True: 0.1, False: 0.5}
        chosen = [k for k in rows if draws.random() < share[rows[k][side].first]]
        return ArmLabels({k: arms[side].passes[k] for k in chosen})

    picked = (more_of_the_failed(0), more_of_the_failed(1))
    found = labelled_delta(None, rows, picked)
    assert found.correction.selected
    assert found.headline is found.correction.post_stratified
    assert found.headline is not None
    expected = []
    for side in (0, 1):
        mean = 0.0
        for verdict in (True, False):
            stratum = [k for k in rows if rows[k][side].first is verdict]
            labels = [picked[side].passes[k] for k in stratum if k in picked[side].passes]
            mean += len(stratum) / len(rows) * float(np.mean(labels))
        expected.append(mean)
    assert found.headline.estimate == pytest.approx(expected[1] - expected[0])


def test_too_few_labels_are_refused_with_the_numbers() -> None:
    rows, arms = world(labelled=19)
    found = labelled_delta(None, rows, arms)
    assert (found.headline, found.shift, found.verdict) == (None, None, Direction.INCONCLUSIVE)
    assert "19 and 19 human labels" in found.correction.ppi.describe()
    assert found.changed == "nothing was corrected: it needs at least 20 labels in each arm"
    assert labelled_delta(None, rows, arms, min_labels=19).headline is not None


def test_agreement_of_graders_and_people_is_that_of_statsmodels() -> None:
    rows, arms = world()
    found = labelled_delta("tone", rows, arms)
    for side in (0, 1):
        labels, said, _ = split(rows, arms[side], side)
        table = [[int(((said == j) & (labels == h)).sum()) for h in (1, 0)] for j in (1, 0)]
        agreement = found.agreement[side]
        assert agreement.kappa.estimate == pytest.approx(cohens_kappa(table).kappa)
        assert agreement.confusion is not None
        assert agreement.confusion.tp == table[0][0]
        assert agreement.confusion.accuracy == pytest.approx(float(np.mean(said == labels)))


def test_labels_of_rows_that_do_not_count_are_counted_apart() -> None:
    rows, (a, b) = world()
    more = ArmLabels({**a.passes, CaseKey("undecided"): True}, skipped=2)
    found = labelled_delta(None, rows, (more, b))
    count = found.labels[0]
    assert (count.usable, count.skipped, count.unused) == (60, 2, 1)


def test_several_trials_count_as_their_share_and_people_saw_the_first() -> None:
    rows = {
        CaseKey(f"c{k}"): (Judged(k % 3 == 0, k % 4, 3), Judged(k % 2 == 0, 3 - k % 4, 3))
        for k in range(48)
    }
    labels = ArmLabels({key: k % 2 == 0 for k, key in enumerate(rows) if k < 24})
    found: LabelledDelta = labelled_delta(None, rows, (labels, labels))
    shares = [(b.passed - a.passed) / 3 for a, b in rows.values()]
    assert found.alone.difference.estimate == pytest.approx(float(np.mean(shares)))
    assert found.agreement[1].confusion is not None
    assert found.agreement[1].confusion.accuracy == 1.0


def test_no_row_at_all() -> None:
    found = labelled_delta(None, {}, (ArmLabels({}), ArmLabels({})))
    assert found.headline is None
    assert found.alone.difference.estimate is None


def test_a_clear_loss_is_worse_with_labels_as_without() -> None:
    rows: Rows = {
        CaseKey(f"c{k}"): (one_trial(k % 10 != 0), one_trial(k % 10 == 0)) for k in range(100)
    }
    arms = tuple(
        ArmLabels({k: rows[k][side].first ^ (n % 7 == 0) for n, k in enumerate(rows) if n % 3})
        for side in (0, 1)
    )
    found = labelled_delta(None, rows, (arms[0], arms[1]))
    assert found.verdict is Direction.WORSE
    assert found.changed == "B is worse, with people's labels as without"


def test_an_interval_holds_only_differences_that_can_be() -> None:
    rows = {CaseKey("x"): (one_trial(True), one_trial(True)), CaseKey("y"): (one_trial(False),) * 2}  # noqa: FBT003
    a, b = ({CaseKey("x"): passes, CaseKey("y"): False} for passes in (True, False))
    found = labelled_delta(None, rows, (ArmLabels(a), ArmLabels(b)), min_labels=2)
    assert found.headline is found.correction.ppi
    assert found.headline.interval is not None
    assert (found.headline.interval.lower, found.headline.interval.upper) == (-1.0, 1.0)
