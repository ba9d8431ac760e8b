import numpy as np
import pytest

from fairtrial.stats.clustered_rate import clustered_rate
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.paired.student import cluster_t
from fairtrial.stats.proportion import pass_rate, wilson
from fairtrial.stats.trials import from_counts

LABELS = [f"repo-{k // 4}" for k in range(40)]


def test_in_the_middle_it_is_the_cluster_t_interval_of_case_rates() -> None:
    passes = np.random.default_rng(2).integers(0, 4, 40)
    found = clustered_rate(from_counts(passes, [3] * 40), LABELS, level=0.9)
    expected = cluster_t(passes / 3, clusters=LABELS, level=0.9).interval
    assert found.interval == expected
    assert (found.n, found.trials, found.clusters, found.method) == (40, 120, 10, "cluster t")


def test_each_case_its_own_cluster_is_the_plain_rate() -> None:
    passes = [0, 1, 2, 3, 3, 1, 2, 2]
    found = clustered_rate(from_counts(passes, [3] * 8), list(range(8)))
    plain = pass_rate({(0, 3): 1, (1, 3): 2, (2, 3): 3, (3, 3): 2})
    assert found.interval is not None
    assert plain.interval is not None
    assert found.interval.lower == pytest.approx(plain.interval.lower)
    assert found.interval.upper == pytest.approx(plain.interval.upper)


def test_all_alike_counts_clusters() -> None:
    found = clustered_rate(from_counts([3] * 40, [3] * 40), LABELS)
    assert found.interval == wilson(10, 10)
    assert found.n_effective == 10.0
    one = clustered_rate(from_counts([1, 2], [3, 3]), ["x", "x"])
    assert one.interval == wilson(0.5, 1)


def test_near_one_it_stays_inside_and_is_wider_with_clusters() -> None:
    passes = [3] * 38 + [2, 2]
    found = clustered_rate(from_counts(passes, [3] * 40), LABELS)
    assert found.method == "wilson at an effective n"
    assert found.interval is not None
    assert 0.9 < found.interval.upper < 1.0
    loose = clustered_rate(from_counts(passes, [3] * 40), list(range(40)))
    assert loose.interval is not None
    assert found.interval.lower < loose.interval.lower


def test_nothing_and_bad_labels() -> None:
    assert clustered_rate(from_counts([], []), []).estimate is None
    with pytest.raises(ArgumentError, match="clusters"):
        clustered_rate(from_counts([1], [1]), [1, 2])


def test_the_effective_n_by_hand() -> None:
    passes = np.array([3.0] * 38 + [2.0, 2.0])
    rates = passes / 3
    labels = np.repeat(np.arange(10), 4)
    mean = rates.mean()
    sums = np.array([rates[labels == g].sum() for g in range(10)])
    se = np.sqrt(10 / 9 * ((sums - 4 * mean) ** 2).sum()) / 40
    z, t = 1.959963984540054, 2.2621571627409915
    expected = min(120.0, mean * (1 - mean) / se**2) * (z / t) ** 2
    found = clustered_rate(from_counts(passes, [3] * 40), labels)
    assert found.n_effective == pytest.approx(expected)
    assert found.interval is not None
    by_hand = wilson(mean * expected, expected)
    assert found.interval.lower == pytest.approx(by_hand.lower)
    assert found.interval.upper == pytest.approx(by_hand.upper)


def test_clusters_with_equal_means_count_once_each() -> None:
    found = clustered_rate(from_counts([0, 1, 0, 1, 0, 1], [1] * 6), [0, 0, 1, 1, 2, 2])
    assert found.interval == wilson(1.5, 3)
    empty = clustered_rate(from_counts([], []), [])
    assert (empty.n, empty.trials, empty.clusters) == (0, 0, 0)
