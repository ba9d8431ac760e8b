"""W11, the program: statistics at a million rows beside the least the same numbers cost.

`python -m bench.stats` prints medians of alternating runs (ours, floor, ours, floor, …) and their
ratio; `python -m bench --only W11` runs it in a process of its own. A floor is the bare numpy,
scipy or peer computation of the same numbers. Where no peer exists it is the figure the method was
specified with, marked as given; that was measured on another day, so the best run is held against
it, not the median, which a busy machine moves.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from ppi_py import ppi_mean_ci
from scipy import optimize, signal
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from bench.table import Row, as_json, text
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
TINY = 10_000
TARGET = 2.0
MOST_BYTES_A_CASE = 100
_SHORT_MS = 50.0


@dataclass(frozen=True)
class Work:
    """One workload: ours, and its floor as a call or as given milliseconds."""

    name: str
    ours: Call
    floor: Call | float
    slow: bool = False


def _timed(call: Call) -> float:
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def _measure(work: Work, rounds: int) -> tuple[float, float]:
    times = max(1, rounds // 4) if work.slow else rounds
    if _timed(work.ours) < _SHORT_MS:
        times *= 5  # a busy machine takes the processor away for longer than such a call takes
    given = None if callable(work.floor) else work.floor
    ours: list[float] = []
    floor: list[float] = []
    for _ in range(times):
        ours.append(_timed(work.ours))
        if callable(work.floor):
            floor.append(_timed(work.floor))
    if given is not None:
        return min(ours), given
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


def _tango_floor(counts: PairedCounts) -> list[float]:
    n, b, c = counts.n, counts.fixed, counts.broken

    def score(d: float) -> float:
        linear = (2 * n - b + c) * d - b - c
        q = (math.sqrt(linear * linear + 8.0 * n * c * d * (1.0 - d)) - linear) / (4.0 * n)
        return float((b - c - n * d) / math.sqrt(n * (2.0 * q + d * (1.0 - d))))

    return [
        optimize.brentq(lambda d, z=z: score(d) - z, -0.99, 0.99) for z in (1.959964, -1.959964)
    ]


def _looks(looks: int) -> list[float]:
    return [(k + 1) / looks for k in range(looks)]


def workloads(large: int) -> list[Work]:
    """Return every workload, the largest of so many rows."""
    rng = np.random.default_rng(7)
    a, b = _rates(large)
    d = b.means - a.means
    groups = large // 200
    labels = rng.integers(0, groups, large)
    sizes = {n: _rates(n) for n in (1_000, 10_000, 100_000) if n < large}
    deltas = {n: second.means - first.means for n, (first, second) in sizes.items()}
    work = [
        Work(f"paired t, {large:,}", lambda: cluster_t(d), lambda: _t_floor(d)),
        Work(f"guarded t, {large:,}", lambda: guarded_t(d, trials=3), lambda: _t_floor(d)),
        Work(
            f"cluster t, {large:,} in {groups:,}",
            lambda: cluster_t(d, clusters=labels),
            lambda: _cluster_floor(d, labels),
        ),
        Work(f"bootstrap, {large:,}", lambda: bootstrap_mean(d), lambda: _bootstrap_floor(d)),
        Work(f"sign flip, {large:,}", lambda: sign_flip(d), lambda: _sign_flip_floor(d)),
        Work(
            f"cluster bootstrap, {groups:,}",
            lambda: bootstrap_mean(d, clusters=labels),
            lambda: _cluster_bootstrap_floor(d, labels),
            slow=True,
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
        Work("Tango, 1M", lambda: tango(counts), lambda: _tango_floor(counts)),
        *(
            Work(
                f"boundaries, {looks} looks",
                lambda looks=looks: obrien_fleming_bounds(_looks(looks)),  # type: ignore[misc]
                given,
            )
            for looks, given in ((4, 6.5), (10, 30.0))
        ),
        Work("e-detector, 50 rounds", lambda: e_detector(gains, eps=0.05, upper=1.0), 3.7),
    ]


def rows(large: int, rounds: int) -> list[Row]:
    """Measure every workload, whole comparisons, and the memory of the largest."""
    found = [
        Row("W11", f"{work.name}{_note(work)}", "ms", *_measure(work, rounds), TARGET)
        for work in workloads(large)
    ]
    for n in (large // 100, large // 10, large):
        cases = paired_trials(*_rates(n))
        took = statistics.median(_timed(lambda cases=cases: paired(cases)) for _ in range(rounds))  # type: ignore[misc]
        found.append(Row("W11", f"compare {n:,} cases, 3 trials", "ms", took, None, None))
    peak = _peak(lambda: paired(cases))
    most = MOST_BYTES_A_CASE * large / 1e6
    return [*found, Row("W11", f"compare {large:,} cases: memory", "MB", peak, None, most)]


def _note(work: Work) -> str:
    return "" if callable(work.floor) else " (floor as given)"


def main(words: list[str] | None = None) -> int:
    """Print what was measured; 1 when something is over twice its floor."""
    parser = argparse.ArgumentParser(prog="python -m bench.stats", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="times each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--tiny", action="store_true", help="few rows: to test the benchmark")
    options = parser.parse_args(words)
    found = rows(TINY if options.tiny else MILLION, options.rounds)
    print(as_json(found) if options.json else text(found))
    return 0 if all(row.holds for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
