"""Order statistics of all pairwise averages, without listing them when there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial.stats.arrays import FloatArray

_Places = npt.NDArray[np.int64]

_MOST_LISTED = 500_000
_SAMPLE = 50_000
_REACH = 3.0
"""Standard deviations of the sample's rank within which the one that is sought should lie."""
_SEED = 0
"""What is drawn decides only how fast the answer is found."""


def walsh_order_statistics(ordered: FloatArray, ranks: Sequence[int]) -> list[float]:
    """Return the averages (d_i + d_j)/2, i <= j, of the given ranks, counting from 1.

    A million values have 5e11 averages. They stand in a matrix whose rows ascend, so how many of a
    row are below a bound is found by bisection. A sample of the averages that are still in question
    gives two bounds which mostly enclose the one that is sought and leave out all but a hundredth;
    after two or three rounds the rest is listed. Time O(n log n), memory O(n). The answer is
    exactly what listing all averages would give, ties and rounding included. Source: the idea of
    pivoting in the sorted matrix is Monahan's (1984, ACM TOMS 10:265), that of bounds from a sample
    is Floyd and Rivest's (1975, CACM 18:165).

    Args:
        ordered: At least one finite value, ascending.
        ranks: Each from 1 to n(n + 1)/2.
    """
    # Sums, not averages: halving at the end is monotone, and a halved sum could lose its last bit.
    rows = np.arange(ordered.size)
    every = _Part(ordered, rows, rows, np.full(ordered.size, ordered.size))
    if every.size <= _MOST_LISTED:
        sums = every.listed()
        sums.partition([rank - 1 for rank in ranks])
        return [0.5 * float(sums[rank - 1]) for rank in ranks]
    rng = np.random.default_rng(_SEED)
    found: dict[int, float] = {}
    for rank in sorted(set(ranks)):
        before = found.get(rank - 1)
        found[rank] = _nth(every, rank, rng) if before is None else _next(every, rank, before)
    return [0.5 * found[rank] for rank in ranks]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of each row of the matrix of sums; all of its sums lie between two bounds.

    Attributes:
        ordered: The values.
        rows: The rows that have a part.
        first: Where it begins.
        last: Where it ends, exclusive.
    """

    ordered: FloatArray
    rows: _Places
    first: _Places
    last: _Places

    @property
    def size(self) -> int:
        return int((self.last - self.first).sum())

    def listed(self) -> FloatArray:
        """Return all sums."""
        widths = self.last - self.first
        starts = np.cumsum(widths) - widths
        partners = np.arange(self.size) + np.repeat(self.first - starts, widths)
        sums: FloatArray = np.repeat(self.ordered[self.rows], widths) + self.ordered[partners]
        return sums

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return some sums, ascending: one from each of so many equal stretches."""
        ends = np.cumsum(self.last - self.first)
        stretch = int(ends[-1]) / size
        drawn = ((np.arange(size) + rng.random(size)) * stretch).astype(np.int64)
        drawn = np.minimum(drawn, ends[-1] - 1)
        at = np.searchsorted(ends, drawn, side="right")
        partners = self.last[at] - (ends[at] - drawn)
        return np.sort(self.ordered[self.rows[at]] + self.ordered[partners])

    def split(self, bound: float, *, inclusive: bool) -> _Places:
        """Return where each row's part splits: before are sums below a bound, or equal to it."""
        values, own = self.ordered, self.ordered[self.rows]
        side: Literal["left", "right"] = "right" if inclusive else "left"
        # Needles that ascend find their neighbourhood in the cache.
        place = np.searchsorted(values, (bound - own)[::-1], side=side)[::-1]
        below = np.less_equal if inclusive else np.less
        # Rounding of bound - own and of the sum may disagree; what counts is the sum.
        ahead, behind = np.minimum(place, values.size - 1), np.maximum(place - 1, 0)
        wrong = (place < values.size) & below(own + values[ahead], bound)
        wrong |= (place > 0) & ~below(own + values[behind], bound)
        if wrong.any():
            place[wrong] = _bisected(values, own[wrong], bound, below)
        return np.minimum(np.maximum(place, self.first), self.last)

    def between(self, first: _Places, last: _Places) -> _Part:
        """Return a smaller part."""
        kept = last > first
        return _Part(self.ordered, self.rows[kept], first[kept], last[kept])


def _bisected(values: FloatArray, own: FloatArray, bound: float, below: np.ufunc) -> _Places:
    """Return how many sums of each row are below a bound, by the sums themselves."""
    low, high = np.zeros(own.size, dtype=np.int64), np.full(own.size, values.size)
    while (low < high).any():
        middle = (low + high) >> 1
        here = (low < high) & below(own + values[np.minimum(middle, values.size - 1)], bound)
        low = np.where(here, middle + 1, low)
        high = np.where(here, high, np.minimum(middle, high))
    return low


def _nth(part: _Part, rank: int, rng: np.random.Generator) -> float:
    """Return the sum of a rank."""
    while (size := part.size) > _MOST_LISTED:
        sample = part.sample(_SAMPLE, rng)
        share = rank / size
        reach = _REACH * (_SAMPLE * share * (1.0 - share)) ** 0.5 + 1.0
        low = sample[max(0, int(_SAMPLE * share - reach))]
        high = sample[min(_SAMPLE - 1, int(_SAMPLE * share + reach))]
        for bound in (float(low), float(high)):
            found = _narrowed(part, rank, bound, above=bound == low)
            if isinstance(found, float):
                return found
            part, rank = found
    sums = part.listed()
    sums.partition(rank - 1)
    return float(sums[rank - 1])


def _narrowed(part: _Part, rank: int, bound: float, *, above: bool) -> tuple[_Part, int] | float:
    """Return the part on the side of a bound where a rank is, and the rank in it.

    The bound itself is in neither side, so each step gets on; it may be what is sought.

    Args:
        part: Where the rank is.
        rank: Counting from 1.
        bound: A sum.
        above: Whether it is probably above the bound; that side is then looked at first.
    """
    for inclusive in (above, not above):
        place = part.split(bound, inclusive=inclusive)
        fewer = int((place - part.first).sum())
        if inclusive and rank > fewer:
            return part.between(place, part.last), rank - fewer
        if not inclusive and rank <= fewer:
            return part.between(part.first, place), rank
    return bound


def _next(every: _Part, rank: int, before: float) -> float:
    """Return the sum of a rank, given the one before it."""
    place = every.split(before, inclusive=True)
    if int((place - every.first).sum()) >= rank:
        return before
    rest = place < every.last
    return float((every.ordered[rest] + every.ordered[place[rest]]).min())
