import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.stats.edetector.bets import MIXTURE, Agrapa, Bet, Fixed, LowerBound
from fairtrial.stats.edetector.detector import e_detector
from fairtrial.stats.errors import ArgumentError

BETS: list[Bet] = [Agrapa(), LowerBound(), MIXTURE, Fixed((0.5,)), Fixed((1.0,))]
gains = st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=15)


def _by_definition(bet: Bet, y: list[float], eps: float, upper: float) -> list[float]:
    """Evidence with every restart's wealth multiplied out one by one."""
    evidence = []
    for t in range(1, len(y) + 1):
        total = 0.0
        for j in range(t):
            seen = y[j:t]
            for fraction in bet.fractions if isinstance(bet, Fixed) else (None,):
                wealth = 1.0
                for i, value in enumerate(seen):
                    stake = _stake(bet, seen[:i], eps, upper - eps, fraction)
                    wealth *= max(0.0, 1.0 + stake * (eps - min(value, upper)))
                total += wealth / (len(bet.fractions) if isinstance(bet, Fixed) else 1)
        evidence.append(total)
    return evidence


def _stake(bet: Bet, past: list[float], eps: float, room: float, fraction: float | None) -> float:
    if fraction is not None:
        return fraction / room
    assert isinstance(bet, Agrapa | LowerBound)
    mean, deviation, total = 0.0, 0.0, 0.0
    for i, value in enumerate(past, start=1):
        total += value
        mean = total / (1 + i)
        deviation += (value - mean) ** 2
    variance = (0.01 + deviation) / (1 + len(past))
    edge = eps - mean
    if isinstance(bet, Agrapa):
        raw = edge / (variance + edge**2)
    else:
        raw = edge / (room * abs(edge) + variance + edge**2)
    return min(max(raw, 0.0), 0.9 / room)


@pytest.mark.parametrize("bet", BETS)
@given(y=gains)
def test_evidence_by_definition(bet: Bet, y: list[float]) -> None:
    found = e_detector(y, eps=0.05, upper=0.5, bet=bet)
    assert list(found.evidence) == pytest.approx(_by_definition(bet, y, 0.05, 0.5), rel=1e-9)


@pytest.mark.parametrize("bet", BETS)
def test_gains_of_exactly_eps_add_one_a_round(bet: Bet) -> None:
    found = e_detector([0.05] * 25, eps=0.05, upper=1.0, bet=bet)
    assert list(found.evidence) == pytest.approx(list(range(1, 26)), rel=1e-12)
    assert found.stop_round == 20
    assert found.need == 20.0


@pytest.mark.parametrize(("upper", "rounds"), [(1.0, 14), (0.5, 11), (0.3, 9), (0.2, 7), (0.1, 6)])
def test_rounds_to_stop_a_dead_loop(upper: float, rounds: int) -> None:
    assert e_detector([0.0] * 40, eps=0.05, upper=upper).stop_round == rounds


@given(gains, st.floats(0.0, 0.3))
def test_larger_gains_never_raise_the_evidence_of_fixed_stakes(y: list[float], more: float) -> None:
    low = e_detector(y, eps=0.05, upper=0.9, bet=MIXTURE).evidence
    high = e_detector([g + more for g in y], eps=0.05, upper=0.9, bet=MIXTURE).evidence
    assert all(h <= low_value + 1e-9 for h, low_value in zip(high, low, strict=True))


@given(gains)
def test_the_sum_of_restarts_is_at_least_the_largest(y: list[float]) -> None:
    bet = Fixed((0.5,))
    sr = e_detector(y, eps=0.05, upper=0.5, bet=bet).evidence
    cusum = e_detector(y, eps=0.05, upper=0.5, bet=bet, kind="cusum").evidence
    assert all(s >= c - 1e-12 for s, c in zip(sr, cusum, strict=True))


def test_bounds_may_shrink_and_gains_above_them_count_as_the_bound() -> None:
    shrinking = e_detector([0.0, 0.0, 0.0], eps=0.05, upper=[0.5, 0.3, 0.2])
    assert shrinking.evidence[2] > e_detector([0.0] * 3, eps=0.05, upper=0.5).evidence[2]
    cut = e_detector([0.9], eps=0.05, upper=0.5)
    assert cut.evidence == e_detector([0.5], eps=0.05, upper=0.5).evidence


def test_the_first_rounds_factor_is_the_evidence_itself() -> None:
    found = e_detector([0.0, 0.1], eps=0.05, upper=0.5)
    assert found.e_values[0] == pytest.approx(found.evidence[0])
    assert found.e_values[1] < 1.0


def test_ruin_is_none_in_logs_and_zero_in_evidence() -> None:
    found = e_detector([0.5, 0.0], eps=0.05, upper=0.5, bet=Fixed((1.0,)))
    assert found.log_evidence[0] is None
    assert found.evidence[0] == 0.0
    assert found.evidence[1] == pytest.approx(1 + 0.05 / 0.45)
    assert found.e_values == (0.0, 0.0)
    cusum = e_detector([0.5, 0.0], eps=0.05, upper=0.5, bet=Fixed((1.0,)), kind="cusum")
    assert cusum.log_evidence[0] is None
    assert cusum.evidence[1] == pytest.approx(1 + 0.05 / 0.45)


def test_evidence_beyond_a_float_is_infinite_not_an_error() -> None:
    found = e_detector(np.full(400, -200.0), eps=0.05, upper=0.06, bet=Fixed((0.5,)))
    assert math.isinf(found.evidence[-1])
    assert found.stop_round == 1


def test_words() -> None:
    assert e_detector([], eps=0.05, upper=1.0).describe() == "No rounds yet."
    assert "stands at" in e_detector([0.0], eps=0.05, upper=1.0).describe()
    assert "in round 14" in e_detector([0.0] * 14, eps=0.05, upper=1.0).describe()
    assert e_detector([0.0], eps=0.05, upper=1.0).method == "sr agrapa"
    assert e_detector([0.0], eps=0.05, upper=1.0, bet=LowerBound()).method == "sr lbow"
    assert e_detector([0.0], eps=0.05, upper=1.0, bet=MIXTURE).method == "sr mixture"


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: e_detector([0.0], eps=0.05, upper=0.05), "upper"),
        (lambda: e_detector([0.0], eps=0.05, upper=[0.5, 0.5]), "upper"),
        (lambda: e_detector([0.0], eps=0.05, upper=math.inf), "upper"),
        (lambda: e_detector([0.0], eps=math.nan, upper=1.0), "eps"),
        (lambda: e_detector([0.0], eps=0.05, upper=1.0, delta=0.0), "delta"),
        (lambda: e_detector([0.0], eps=0.05, upper=1.0, kind="ewma"), "kind"),  # type: ignore[arg-type]
        (lambda: e_detector([0.0], eps=0.05, upper=1.0, kind="cusum"), "bet"),
        (lambda: e_detector([math.nan], eps=0.05, upper=1.0), "gains"),
        (lambda: Fixed(()), "fractions"),
        (lambda: Fixed((1.5,)), "fractions"),
        (lambda: Agrapa(cap=1.0), "cap"),
        (lambda: Agrapa(prior_variance=0.0), "prior_variance"),
        (lambda: Agrapa(prior_weight=0.0), "prior_weight"),
    ],
)
def test_bad_arguments_are_named(call: object, argument: str) -> None:
    assert callable(call)
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()


@pytest.mark.parametrize("kind", [Agrapa, LowerBound])
def test_a_stake_never_exceeds_its_cap(kind: type[Agrapa | LowerBound]) -> None:
    sure = kind(prior_variance=1e-9)
    found = e_detector([0.0], eps=0.01, upper=0.5, bet=sure)
    assert found.evidence[0] == pytest.approx(1 + 0.9 / 0.49 * 0.01)
    losing = kind(prior_mean=0.4)
    assert e_detector([0.0], eps=0.01, upper=0.5, bet=losing).evidence[0] == 1.0
