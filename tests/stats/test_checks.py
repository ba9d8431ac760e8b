import math
from collections.abc import Callable

import numpy as np
import pytest

from fairtrial.stats import arrays, checks
from fairtrial.stats.errors import ArgumentError
from fairtrial.stats.roots import find_root


@pytest.mark.parametrize(
    "call",
    [
        lambda: checks.check_between("x", 0.0, 0.0, 1.0),
        lambda: checks.check_between("x", 1.0, 0.0, 1.0),
        lambda: checks.check_between("x", math.nan, 0.0, 1.0),
        lambda: checks.check_share("x", -1e-9),
        lambda: checks.check_share("x", 1.1),
        lambda: checks.check_finite("x", math.inf),
        lambda: checks.check_at_least("x", 0.9, 1.0),
        lambda: checks.check_count("x", 1.5),
        lambda: checks.check_count("x", -1),
        lambda: checks.check_count("x", 0, 1),
        lambda: checks.check_count("x", math.nan),
        lambda: checks.check_count("x", 1e308),
        lambda: checks.check_count("x", 10**400),
        lambda: checks.check_count("x", "many"),  # type: ignore[arg-type]
        lambda: checks.check_level("high"),  # type: ignore[arg-type]
        lambda: checks.check_finite("x", None),  # type: ignore[arg-type]
        lambda: checks.check_share("x", [0.5]),  # type: ignore[arg-type]
        lambda: checks.check_at_least("x", "0.5%", 0.0),  # type: ignore[arg-type]
        lambda: checks.check_within("x", 2.1, 1.0, 2.0),
        lambda: checks.check_within("x", math.nan, 1.0, 2.0),
        lambda: arrays.as_values("x", ["a"]),
        lambda: arrays.as_values("x", [None]),  # type: ignore[arg-type]
        lambda: arrays.as_values("x", [[1.0], [1.0, 2.0]]),
        lambda: arrays.as_values("x", [object()]),  # type: ignore[arg-type]
        lambda: arrays.as_values("x", [1e200, -1e200]),
        lambda: arrays.as_table("x", [["a"]]),
        lambda: arrays.as_table("x", [[object()]]),  # type: ignore[arg-type]
        lambda: arrays.as_table("x", [[1e200]]),
        lambda: arrays.as_values("x", [[1.0]]),
        lambda: arrays.as_values("x", [1.0, math.nan]),
        lambda: arrays.as_values("x", [math.inf, -math.inf]),
        lambda: arrays.as_values("x", [1.0], least=2),
        lambda: arrays.as_table("x", [1.0]),
        lambda: arrays.as_table("x", [[1.0], [1.0, 2.0]]),
        lambda: arrays.as_table("x", [[math.nan]]),
        lambda: arrays.as_aligned("x", [1.0], np.zeros(2)),
        lambda: arrays.as_clusters("x", [1, 2], 3),
        lambda: arrays.as_clusters("x", [[1, 2]], 2),
    ],
)
def test_what_is_out_of_its_domain_is_refused_by_name(call: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError, match=r"^(x|level): ") as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert caught.value.problem


def test_what_is_inside_passes_through() -> None:
    assert checks.check_between("x", 0.5, 0, 1) == 0.5
    assert checks.check_share("x", 0) == 0.0
    assert checks.check_share("x", 1) == 1.0
    assert checks.check_at_least("x", 1.0, 1.0) == 1.0
    assert checks.check_count("x", 3.0) == 3
    assert checks.check_count("x", 1, 1) == 1
    assert checks.check_within("x", 2, 1.0, 2.0) == 2.0
    assert checks.check_count("x", 2**53) == 2**53
    assert arrays.as_values("x", [1e150, -1e150]).tolist() == [1e150, -1e150]
    assert arrays.as_values("x", []).size == 0


def test_cluster_sums_do_not_care_how_labels_are_written() -> None:
    values = np.array([1.0, 2.0, 4.0, 8.0])
    for labels in (
        [0, 7, 0, 7],
        ["a", "b", "a", "b"],
        [-5, 10**9, -5, 10**9],
        [1.5, 2.5, 1.5, 2.5],
    ):
        codes = arrays.as_clusters("x", labels, 4)
        sums, sizes = arrays.cluster_sums(values, codes)
        assert sums.tolist() == [5.0, 10.0]
        assert sizes.tolist() == [2.0, 2.0]


def test_without_labels_each_case_is_its_own_cluster() -> None:
    sums, sizes = arrays.cluster_sums(np.array([1.0, 2.0]), None)
    assert sums.tolist() == [1.0, 2.0]
    assert sizes.tolist() == [1.0, 1.0]


def test_root_of_a_smooth_and_of_a_stepped_function() -> None:
    assert find_root(lambda x: math.cos(x) - x, 0.0, 1.0) == pytest.approx(0.7390851332151607)
    assert find_root(lambda x: -1.0 if x < 0.3 else 1.0, 0.0, 1.0) == pytest.approx(0.3)
    assert find_root(lambda x: x, 0.0, 1.0) == 0.0
    assert find_root(lambda x: x - 1.0, 0.0, 1.0) == 1.0
    assert find_root(lambda x: math.cos(x) - x, 0.0, 1.0, max_steps=2) == pytest.approx(
        0.74, abs=0.1
    )
    assert find_root(lambda x: x**9, -1.0, 2.0) == pytest.approx(0.0, abs=1e-2)


def test_root_needs_a_change_of_sign() -> None:
    with pytest.raises(ArgumentError, match="same sign"):
        find_root(lambda x: x * x + 1.0, -1.0, 1.0)
