"""Differences between two arms, B less A, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """What a paired comparison says."""

    BETTER = "better"
    WORSE = "worse"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True, slots=True)
class Delta:
    """A mean difference over shared rows, B less A; positive is better.

    Attributes:
        a: Mean in A; None without rows.
        b: Mean in B over the same rows.
        estimate: b less a.
        lower: Lower end of its interval; None when it is undefined, and `reason` says why.
        upper: Upper end.
        level: Confidence level of the interval.
        method: How the interval was made.
        p: Two-sided p-value, as the verdict uses it.
        p_method: How it was made.
        p_adjusted: Holm's p over all deltas of its kind; None for the one that stands alone.
        verdict: Better or worse needs an interval without 0 and a small p.
        n: Rows.
        clusters: Independent units; equals `n` without clustering.
        reason: Why this method, or why something is undefined.
        seed: Seed of random draws; None when nothing was drawn.
    """

    a: float | None
    b: float | None
    estimate: float | None
    lower: float | None
    upper: float | None
    level: float
    method: str
    p: float | None
    p_method: str | None
    p_adjusted: float | None
    verdict: Direction
    n: int
    clusters: int
    reason: str
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """The delta of one grader, or on one part of the rows.

    Attributes:
        kind: `grader`, `tag`, `split` or `condition`.
        name: The grader's, tag's, split's or condition's name.
        delta: Its delta.
    """

    kind: str
    name: str
    delta: Delta


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a trial takes, in both arms; less is better, so a positive difference is worse.

    Attributes:
        name: `cost`, `tokens` or `duration`.
        unit: `usd`, `tokens` or `s`.
        a: Mean a trial in A, over the rows known on both sides; None when there is none.
        b: The same in B.
        difference: b less a.
        lower: Lower end of its 95 % interval; None when it is undefined.
        upper: Upper end.
        n: Rows known on both sides.
        reason: Why there is no interval.
    """

    name: str
    unit: str
    a: float | None
    b: float | None
    difference: float | None
    lower: float | None
    upper: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SmallestVisible:
    """The smallest difference that so many rows, scattering so much, show most of the time.

    Attributes:
        effect: The difference; None when it cannot be given, and `reason` says why.
        power: Chance to see it.
        alpha: Two-sided error.
        n: Independent units.
        reason: Why there is none.
    """

    effect: float | None
    power: float
    alpha: float
    n: int
    reason: str = ""
