"""Which cases of a dataset an experiment runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fairtrial.model.case import CaseKey
from fairtrial.ports import CaseOutline


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a case must meet; None does not narrow.

    Attributes:
        split: Its split.
        among: Its key is one of these (the failed ones of an experiment, say).
        patterns: Its id matches one of these (`*` and `?`).
        sample: Draw this many case ids: a count (int) or a share of them (float).
        sample_seed: The seed of the draw; the same seed draws the same ids.
        first_n: After all others, only the first n in dataset order.
    """

    split: str | None = None
    among: frozenset[CaseKey] | None = None
    patterns: tuple[str, ...] = ()
    sample: int | float | None = None
    sample_seed: int = 0
    first_n: int | None = None


def select(outlines: Iterable[CaseOutline], criteria: Criteria) -> tuple[CaseOutline, ...]:
    """Return the cases that meet the criteria, in dataset order."""
    chosen = [outline for outline in outlines if _meets(outline, criteria)]
    if criteria.sample is not None:
        drawn = _draw({outline.id for outline in chosen}, criteria.sample, criteria.sample_seed)
        chosen = [outline for outline in chosen if outline.id in drawn]
    return tuple(chosen[: criteria.first_n])


def _meets(outline: CaseOutline, criteria: Criteria) -> bool:
    if criteria.split is not None and outline.split != criteria.split:
        return False
    if criteria.among is not None and CaseKey(outline.id, outline.condition) not in criteria.among:
        return False
    return not criteria.patterns or any(_matches(outline.id, p) for p in criteria.patterns)


def _matches(case_id: str, pattern: str) -> bool:
    # Brackets mean themselves: many ids have them, such as `test_sum[int]`.
    return fnmatchcase(case_id, pattern.replace("[", "[[]"))


def _draw(ids: set[str], sample: float, seed: int) -> set[str]:
    """Draw by the smallest hashes: adding cases to a dataset changes a draw as little as it can."""
    count = sample if isinstance(sample, int) else round(sample * len(ids))
    return set(sorted(ids, key=lambda case_id: _rank(seed, case_id))[:count])


def _rank(seed: int, case_id: str) -> bytes:
    text = f"{seed}:{case_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def split_names(outlines: Sequence[CaseOutline]) -> tuple[str, ...]:
    """Return the names of the splits that some case has, sorted."""
    return tuple(sorted({outline.split for outline in outlines if outline.split is not None}))
