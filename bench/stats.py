"""Statistics at a million rows, side by side with the least the same numbers cost.

`python -m bench.stats` prints medians of alternating runs (ours, floor, ours, floor, …) and their
ratio. A floor is the bare numpy or peer computation of the same numbers. Where no peer exists the
floor is the figure the method was specified with, marked as given: it was measured on another
day, so its ratio is only a hint.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ppi_py import ppi_mean_ci
from scipy import signal
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from fairtrial.analysis.cases import paired_trials
from fairtrial.analysis.paired import paired
from fairtrial.stats.dunnett import dunnett
from fairtrial.stats.edetector.detector import e_detector
from fairtrial.stats.paired.bootstrap import bootstrap_mean
from fairtrial.stats.paired.counts import PairedCounts
from fairtrial.stats.paired.mcnemar import mcnemar
from fairtrial.stats.paired.sign_flip import sign_flip
from fairtrial.stats.paired.student import cluster_t, guarded_t
from fairtrial.stats.paired.tango import tango
from fairtrial.stats.ppi.mean import ppi_mean
from fairtrial.stats.sequential.bounds import obrien_fleming_bounds
from fairtrial.stats.trials import TrialSums, from_counts

Call = Callable[[], object]
MILLION = 1_000_000
TARGET = 2.0


@dataclass(frozen=True)
class Work:
    """One workload: ours, and its floor as a call or as given milliseconds."""

    name: str
    ours: Call
    floor: Call | float
    repeats: int = 7


def _timed(call: Call) -> float:
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def _measure(work: Work) -> tuple[float, float]:
    work.ours()
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(work.repeats):
        ours.append(_timed(work.ours))
        floor.append(_timed(work.floor) if callable(work.floor) else work.floor)
    return statistics.median(ours), statistics.median(floor)


def _peak(call: Call) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def _rates(n: int, seed: int = 1) -> tuple[TrialSums, TrialSums]:
    rng = np.random.default_rng(seed)
    three = np.full(n, 3.0)
    chance = rng.beta(0.5, 0.5, n)
    better = np.minimum(1.0, chance + 0.01)
    return from_counts(rng.binomial(3, chance), three), from_counts(rng.binomial(3, better), three)


def _t_floor(d: np.ndarray) -> tuple[float, float]:
    return float(d.mean()), float(d.std(ddof=1))


def _cluster_floor(d: np.ndarray, labels: np.ndarray) -> float:
    sums, sizes = np.bincount(labels, weights=d), np.bincount(labels)
    return float(((sums - d.mean() * sizes) ** 2).sum())


def _bootstrap_floor(d: np.ndarray) -> np.ndarray:
    values, counts = np.unique(d, return_counts=True)
    draws = np.random.default_rng(0).multinomial(d.size, counts / d.size, 10_000)
    return np.asarray(np.quantile(draws @ values / d.size, [0.025, 0.975]))


def _sign_flip_floor(d: np.ndarray) -> float:
    steps = np.rint(3 * d).astype(int)
    pmf = np.ones(1)
    for size in (1, 2, 3):
        m = int((np.abs(steps) == size).sum())
        spread = np.zeros(size * m + 1)
        spread[::size] = scipy_stats.binom.pmf(np.arange(m + 1), m, 0.5)
        pmf = signal.fftconvolve(pmf, spread)
    return float(pmf[(pmf.size - 1 + abs(int(steps.sum()))) // 2 :].sum())


def _cluster_bootstrap_floor(d: np.ndarray, labels: np.ndarray) -> np.ndarray:
    sums, sizes = np.bincount(labels, weights=d), np.bincount(labels)
    rng = np.random.default_rng(0)
    means = []
    for _ in range(10):
        weights = rng.multinomial(sums.size, np.full(sums.size, 1 / sums.size), 1_000)
        means.append((weights @ sums) / (weights @ sizes))
    return np.asarray(np.quantile(np.concatenate(means), [0.025, 0.975]))


def workloads() -> list[Work]:
    """Return every workload."""
    rng = np.random.default_rng(7)
    a, b = _rates(MILLION)
    d = b.means - a.means
    labels = rng.integers(0, 5_000, MILLION)
    sizes = {n: _rates(n) for n in (1_000, 10_000, 100_000)}
    deltas = {n: second.means - first.means for n, (first, second) in sizes.items()}
    work = [
        Work("paired t, 1M", lambda: cluster_t(d), lambda: _t_floor(d)),
        Work("guarded t, 1M", lambda: guarded_t(d, trials=3), lambda: _t_floor(d)),
        Work(
            "cluster t, 1M in 5,000",
            lambda: cluster_t(d, clusters=labels),
            lambda: _cluster_floor(d, labels),
        ),
        Work("bootstrap, 1M", lambda: bootstrap_mean(d), lambda: _bootstrap_floor(d)),
        Work("sign flip, 1M", lambda: sign_flip(d), lambda: _sign_flip_floor(d), 3),
        Work(
            "cluster bootstrap, 5,000",
            lambda: bootstrap_mean(d, clusters=labels),
            lambda: _cluster_bootstrap_floor(d, labels),
            1,
        ),
    ]
    for n, delta in deltas.items():
        work += [
            Work(
                f"bootstrap, {n:,}",
                lambda delta=delta: bootstrap_mean(delta),  # type: ignore[misc]
                lambda delta=delta: _bootstrap_floor(delta),  # type: ignore[misc]
            ),
            Work(
                f"sign flip, {n:,}",
                lambda delta=delta: sign_flip(delta),  # type: ignore[misc]
                lambda delta=delta: _sign_flip_floor(delta),  # type: ignore[misc]
            ),
        ]
    return work + _small(rng)


def _small(rng: np.random.Generator) -> list[Work]:
    counts = PairedCounts(400_000, 60_000, 59_000, 481_000)
    table = [[400_000, 59_000], [60_000, 481_000]]
    truth = (rng.random(1_000) < 0.6) * 1.0
    judge = (rng.random(101_000) < 0.6) * 1.0
    groups = [rng.normal(size=20) for _ in range(4)]
    gains = rng.random(50) * 0.1
    return [
        Work(
            "McNemar, 119,000 changed",
            lambda: mcnemar(60_000, 59_000),
            lambda: statsmodels_mcnemar(table, exact=True),
        ),
        Work(
            "PPI++, 1,000 of 101,000",
            lambda: ppi_mean(truth, judge[:1_000], judge[1_000:]),
            lambda: ppi_mean_ci(truth, judge[:1_000], judge[1_000:]),
        ),
        Work(
            "Dunnett, 3 groups",
            lambda: dunnett(groups[0], {"x": groups[1], "y": groups[2], "z": groups[3]}),
            lambda: scipy_stats.dunnett(*groups[1:], control=groups[0]),
        ),
        Work("Tango, 1M", lambda: tango(counts), 0.14),
        Work("boundaries, 4 looks", lambda: obrien_fleming_bounds([0.25, 0.5, 0.75, 1.0]), 6.5),
        Work(
            "boundaries, 10 looks",
            lambda: obrien_fleming_bounds([(k + 1) / 10 for k in range(10)]),
            30.0,
        ),
        Work("e-detector, 50 rounds", lambda: e_detector(gains, eps=0.05, upper=1.0), 3.7),
    ]


def main() -> None:
    """Print every workload, then whole comparisons and the memory of the largest."""
    print(f"{'work':28} {'ours ms':>9} {'floor ms':>9} {'ratio':>6}")
    late = []
    for work in workloads():
        ours, floor = _measure(work)
        given = "" if callable(work.floor) else "  (floor as given)"
        over = ours / floor > TARGET
        late += [work.name] if over else []
        print(f"{work.name:28} {ours:9.3f} {floor:9.3f} {ours / floor:6.2f}{given}")
    print()
    for n in (10_000, 100_000, MILLION):
        cases = paired_trials(*_rates(n))
        elapsed = statistics.median(_timed(lambda cases=cases: paired(cases)) for _ in range(5))  # type: ignore[misc]
        peak = _peak(lambda cases=cases: paired(cases))  # type: ignore[misc]
        print(f"compare {n:>9,} cases, 3 trials: {elapsed:8.1f} ms, peak {peak:6.1f} MB")
    print()
    print("over twice the floor: " + (", ".join(late) or "none"))


if __name__ == "__main__":
    main()
