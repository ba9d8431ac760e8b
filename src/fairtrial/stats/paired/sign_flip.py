"""The sign-flip test: would luck alone hand out the signs like this?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray, IntArray, as_clusters, as_values, cluster_sums
from fairtrial.stats.checks import check_count
from fairtrial.stats.lattice import find_lattice
from fairtrial.stats.roots import find_root
from fairtrial.stats.tails import binomial_pmf, normal_pdf, normal_sf

_MOST_ENUMERATED = 16
_MOST_CONVOLVED = 40_000_000
_MOST_DRAWN_CELLS = 100_000_000
_CHUNK_CELLS = 4_000_000
_REACH = 12.0
_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class SignFlip:
    """A sign-flip test of the sum of differences.

    Attributes:
        p_mid: Two-sided mid-p, the one verdicts use.
        p_exact: Two-sided p that counts ties with the observed sum in full.
        p_mid_greater: One-sided mid-p for "the candidate is better".
        p_exact_greater: One-sided p for the same.
        n: Cases.
        clusters: Units whose signs were flipped.
        method: `convolution`, `enumeration`, `random flips` or `saddlepoint`.
        draws: Random flips; 0 when the distribution is exact or approximated.
        seed: Their seed; None when nothing was drawn.
        reason: What to know about the answer.
    """

    p_mid: float
    p_exact: float
    p_mid_greater: float
    p_exact_greater: float
    n: int
    clusters: int
    method: str
    draws: int = 0
    seed: int | None = None
    reason: str = ""

    def describe(self) -> str:
        """Return the test in words."""
        return (
            f"If the two arms were interchangeable, each of the {self.clusters:,} differences "
            f"could as well have had the other sign; {self.p_mid:.2g} of all sign patterns are at "
            f"least as one-sided as this one (sign-flip test, mid-p, {self.method})."
        )


@dataclass(frozen=True, slots=True)
class _UpperTail:
    """P(T >= s) and P(T = s) for the flipped sum T and s = |observed sum|."""

    at_least: float
    equal: float
    method: str
    draws: int = 0


def sign_flip(
    d: npt.ArrayLike,
    *,
    clusters: npt.ArrayLike | None = None,
    draws: int = 20_000,
    seed: int = 0,
) -> SignFlip:
    """Test whether differences are as likely negative as positive, by flipping their signs.

    Formula: T = sum ± |d_i| with fair independent signs (whole clusters flip together);
    p = P(|T| >= |observed|), mid-p takes half of P(|T| = |observed|) off. Lattice differences
    (pass rates over k trials): exact, by convolution of scaled binomials, tilted so that far tails
    keep their digits. Others: full enumeration to 16 units; then `draws` seeded flips with
    (b+1)/(m+1); beyond 100 million drawn signs the saddlepoint approximation. Source: Fisher
    1935; the saddlepoint: Daniels 1958, Robinson 1982 (JRSS B 44:91). Tilting is ours.

    Use it as the default test of a paired comparison: it needs no distribution, only that under
    "no change" the arms are exchangeable. On pass/fail with one trial it is McNemar's test. It
    lies when cases share luck (clusters not named) or the arms were not interleaved.

    Args:
        d: One difference a case.
        clusters: One label a case; None when cases are independent.
        draws: Random flips, where the distribution is not exact.
        seed: Their seed.

    Raises:
        ArgumentError: d is not finite and one-dimensional, labels do not fit, or draws is small.
    """
    check_count("draws", draws, 100)
    check_count("seed", seed)
    values = as_values("d", d)
    codes = None if clusters is None else as_clusters("clusters", clusters, values.size)
    sums = values if codes is None else cluster_sums(values, codes)[0]
    n, groups = values.size, sums.size
    if groups < 2:
        reason = "fewer than two independent units can prove nothing"
        greater = 0.5 if float(sums.sum()) > 0.0 else 1.0
        return SignFlip(1.0, 1.0, 1.0, greater, n, groups, "none", reason=reason)
    lattice = find_lattice(sums)
    if lattice is not None and _affordable(lattice.sizes):
        total = float(lattice.total)
        tail = _convolved(lattice.sizes, abs(lattice.total))
    else:
        tail, total = _continuous(sums, draws, seed)
    return _result(tail, total, (n, groups), seed)


def _affordable(counts: IntArray) -> bool:
    """Return whether convolving so many differences of 0, 1, … steps takes less than a second."""
    sizes = np.flatnonzero(counts)
    span = float(sizes @ np.minimum(counts[sizes], _REACH * np.sqrt(counts[sizes]) + 40.0))
    return span * max(1, sizes.size) <= _MOST_CONVOLVED


def _result(tail: _UpperTail, total: float, size: tuple[int, int], seed: int) -> SignFlip:
    half = 0.5 * tail.equal
    two_mid = 2.0 * tail.at_least - tail.equal if total else 1.0 - half
    upper, upper_mid = tail.at_least, tail.at_least - half
    if total < 0.0:
        upper, upper_mid = 1.0 - tail.at_least + tail.equal, 1.0 - tail.at_least + half
    none_differ = tail.equal >= 1.0
    return SignFlip(
        p_mid=1.0 if none_differ else min(1.0, two_mid),
        p_exact=min(1.0, 2.0 * tail.at_least) if total else 1.0,
        p_mid_greater=1.0 if none_differ else upper_mid,
        p_exact_greater=upper,
        n=size[0],
        clusters=size[1],
        method=tail.method,
        draws=tail.draws,
        seed=seed if tail.draws else None,
        reason="no difference to flip" if none_differ else "",
    )


def _convolved(counts: IntArray, observed: int) -> _UpperTail:
    """Return the exact upper tail when so many differences are 0, 1, … steps long."""
    sizes = np.flatnonzero(counts[1:]) + 1
    if sizes.size == 0:
        return _UpperTail(1.0, 1.0, "convolution")
    divisor = int(np.gcd.reduce(sizes))
    many = counts[sizes]
    sizes = sizes // divisor
    observed //= divisor
    most = int(sizes @ many)
    if observed == most:
        point = 0.5 ** int(many.sum())
        return _UpperTail(point, point, "convolution")
    tilt = _tilt(sizes.astype(np.float64), many.astype(np.float64), float(observed))
    pmf, start = _tilted_pmf(sizes, many, tilt)
    heads = (observed + most) // 2
    log_mass = float(many @ _log_cosh(tilt * sizes.astype(np.float64))) - tilt * observed
    above = pmf[heads - start :]
    weights = np.exp(-2.0 * tilt * np.arange(above.size))
    scale = math.exp(log_mass)
    return _UpperTail(scale * float(above @ weights), scale * float(above[0]), "convolution")


def _tilt(sizes: FloatArray, many: FloatArray, observed: float) -> float:
    """Return the exponential tilt under which the flipped sum has mean `observed`."""
    if observed == 0.0:
        return 0.0

    def gap(tilt: float) -> float:
        return float(many @ (sizes * np.tanh(tilt * sizes))) - observed

    high = 1.0 / float(sizes.max())
    while gap(high) < 0.0:
        high *= 2.0
    return find_root(gap, 0.0, high, tolerance=1e-12)


def _log_cosh(x: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp(x, -x) - math.log(2.0), dtype=np.float64)


def _tilted_pmf(sizes: IntArray, many: IntArray, tilt: float) -> tuple[FloatArray, int]:
    """Return pmf and first support point of sum size * Binomial(many, tilted half).

    Each binomial is cut to 12 standard deviations around its mean and the sum to a window of the
    same width; both lose less than rounding does.
    """
    chances = 1.0 / (1.0 + np.exp(-2.0 * tilt * sizes))
    parts = [_binomial_window(int(m), float(p)) for m, p in zip(many, chances, strict=True)]
    start = sum(int(s) * low for s, (_, low) in zip(sizes, parts, strict=True))
    spans = [int(s) * (pmf.size - 1) for s, (pmf, _) in zip(sizes, parts, strict=True)]
    if len(parts) == 1 and sizes[0] == 1:
        return parts[0][0], start
    length = 1 << (sum(spans) + 1).bit_length()
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    for size, (pmf, _), span in zip(sizes, parts, spans, strict=True):
        spread = np.zeros(span + 1)
        spread[:: int(size)] = pmf
        product *= np.fft.rfft(spread, length)
    return np.maximum(np.fft.irfft(product, length)[: sum(spans) + 1], 0.0), start


def _binomial_window(m: int, p: float) -> tuple[FloatArray, int]:
    mean = m * p
    reach = _REACH * math.sqrt(m * p * (1.0 - p)) + 20.0
    low, high = max(0, math.floor(mean - reach)), min(m, math.ceil(mean + reach))
    at = np.arange(low, high)
    mode = min(max(math.floor(mean), low), high)
    if p >= 1.0:
        return np.ones(1), m
    ratios = np.log((m - at) / (at + 1.0)) + (math.log(p) - math.log1p(-p))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    return np.exp(logs - logs[mode - low]) * binomial_pmf(mode, m, p), low


def _continuous(sums: FloatArray, draws: int, seed: int) -> tuple[_UpperTail, float]:
    flips = np.abs(sums[sums != 0.0])
    total = float(sums.sum())
    if abs(total) <= _SLACK * float(flips.sum()):
        total = 0.0
    observed = abs(total)
    if flips.size <= _MOST_ENUMERATED:
        return _enumerated(flips, observed), total
    if flips.size * draws > _MOST_DRAWN_CELLS:
        return _UpperTail(saddlepoint_tail(flips, observed), 0.0, "saddlepoint"), total
    return _drawn(flips, observed, draws, seed), total


def _enumerated(flips: FloatArray, observed: float) -> _UpperTail:
    patterns = np.zeros(1)
    for flip in flips:
        patterns = np.concatenate([patterns + flip, patterns - flip])
    slack = _SLACK * float(flips.sum())
    at_least = float(np.mean(patterns >= observed - slack))
    above = float(np.mean(patterns > observed + slack))
    return _UpperTail(at_least, at_least - above, "enumeration")


def _drawn(flips: FloatArray, observed: float, draws: int, seed: int) -> _UpperTail:
    rng = np.random.default_rng(seed)
    rows = max(1, _CHUNK_CELLS // flips.size)
    slack = _SLACK * float(flips.sum())
    at_least = equal = 0
    half = 0.5 * float(flips.sum())
    for start in range(0, draws, rows):
        signs = rng.integers(0, 2, (min(rows, draws - start), flips.size), dtype=np.int8)
        totals = 2.0 * (signs @ flips - half)
        # Both tails of the symmetric distribution are counted, which halves the noise.
        at_least += int((np.abs(totals) >= observed - slack).sum())
        equal += int((np.abs(np.abs(totals) - observed) <= slack).sum())
    if observed == 0.0:
        point = equal / (draws + 1)
        return _UpperTail(0.5 + 0.5 * point, point, "random flips", draws)
    return _UpperTail(
        0.5 * (at_least + 1) / (draws + 1), 0.5 * equal / (draws + 1), "random flips", draws
    )


def saddlepoint_tail(flips: FloatArray, observed: float) -> float:
    """Return P(sum ± flips >= observed) by Lugannani and Rice's saddlepoint formula.

    Use it for many units of continuous size; its relative error is of order 1/n. Source: Daniels
    1987, Int Stat Rev 55:37.

    Args:
        flips: Positive sizes.
        observed: Not negative.
    """
    spread = float(flips @ flips)
    if observed * observed <= 1e-12 * spread:
        return 0.5
    if observed >= float(flips.sum()) * (1.0 - 1e-12):
        return 0.5**flips.size
    tilt = _tilt(flips, np.ones_like(flips), observed)
    generating = float(_log_cosh(tilt * flips).sum())
    # beyond 300 the hyperbolic cosine overflows, and its inverse is 0 anyway
    curvature = float(((flips / np.cosh(np.minimum(tilt * flips, 300.0))) ** 2).sum())
    w = math.sqrt(2.0 * (tilt * observed - generating))
    u = tilt * math.sqrt(curvature)
    if w < 1e-4:
        return normal_sf(observed / math.sqrt(spread))
    return normal_sf(w) + normal_pdf(w) * (1.0 / u - 1.0 / w)
