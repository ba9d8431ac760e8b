"""Two measured commands, from their recorded runs to what changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median

from fairtrial.analysis.measured import Correction, MetricChange, metric_changes
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Verdict

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to compare, and how; patterns know `*` and `?`.

    Attributes:
        only: Patterns of metrics to compare; none compares all.
        higher: Patterns of metrics where more is better.
        correction: How p-values allow for the number of metrics.
    """

    only: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    correction: Correction = "holm"

    def includes(self, metric: str) -> bool:
        """Return whether a metric is compared."""
        return not self.only or any(fnmatchcase(metric, pattern) for pattern in self.only)

    def unmatched(self, metrics: Iterable[str]) -> list[str]:
        """Return the patterns that match none of some metrics."""
        names = list(metrics)
        patterns = [*self.only, *self.higher]
        return [p for p in patterns if not any(fnmatchcase(name, p) for name in names)]


@dataclass(frozen=True, slots=True)
class Failures:
    """The runs of one arm that failed.

    Attributes:
        count: How many.
        runs: Of how many.
        first_reason: Why the first of them did.
    """

    count: int
    runs: int
    first_reason: str | None


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs that ran.

    Attributes:
        runs: Both runs of every pair in which both succeeded, A's and B's.
        dropped: Pairs of which a run failed.
        unfinished: Pairs of which only one run is on record.
        failures: The failed runs of each arm.
        not_numbers: Keys that were printed with something that is no finite number, and in how
            many runs.
    """

    runs: Sequence[tuple[Trial, Trial]]
    dropped: int
    unfinished: int
    failures: Mapping[str, Failures]
    not_numbers: Mapping[str, int]

    @property
    def metrics(self) -> list[str]:
        """The metrics of any run, in the order they were first seen."""
        return list(dict.fromkeys(name for pair in self.runs for t in pair for name in t.metrics))


def pairs_of(trials: Iterable[Trial], arms: tuple[str, str]) -> Pairs:
    """Return the pairs of an experiment's trials; the arms are A's name and B's."""
    known = list(trials)
    of_case: dict[str, dict[str, Trial]] = {}
    for trial in known:
        of_case.setdefault(trial.key.case_id, {})[trial.key.arm] = trial
    whole = [(pair[arms[0]], pair[arms[1]]) for pair in of_case.values() if len(pair) == 2]
    good = [pair for pair in whole if all(t.verdict is Verdict.PASSED for t in pair)]
    not_numbers: dict[str, int] = {}
    for pair in good:
        for trial in pair:
            printed = trial.output if isinstance(trial.output, dict) else {}
            for name in printed:
                if name not in trial.metrics:
                    not_numbers[name] = not_numbers.get(name, 0) + 1
    return Pairs(
        runs=good,
        dropped=len(whole) - len(good),
        unfinished=len(of_case) - len(whole),
        failures={arm: _failures([t for t in known if t.key.arm == arm]) for arm in arms},
        not_numbers=not_numbers,
    )


def _failures(trials: Sequence[Trial]) -> Failures:
    failed = [trial for trial in trials if trial.verdict is not Verdict.PASSED]
    return Failures(len(failed), len(trials), failed[0].reason if failed else None)


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of one arm over the pairs that count."""

    median: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric of both arms.

    Attributes:
        name: Its name.
        change: From A to B, with its verdict.
        a: A's values; None without a pair.
        b: B's values.
        missing: Pairs in which a run lacks it.
    """

    name: str
    change: MetricChange
    a: Spread | None
    b: Spread | None
    missing: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed from A to B.

    Attributes:
        metrics: The metrics that both arms have.
        one_sided: Metrics that only one arm has, with its name: they cannot be compared.
        pairs_needed: Pairs that a verdict needs at least, whatever the values.
    """

    metrics: Sequence[Measured]
    one_sided: Mapping[str, str]
    pairs_needed: int


def changes_of(pairs: Pairs, arms: tuple[str, str], wanted: Wanted) -> Changes:
    """Return what changed from A to B, metric by metric."""
    values: dict[str, tuple[list[float], list[float]]] = {}
    one_sided: dict[str, str] = {}
    for name in filter(wanted.includes, pairs.metrics):
        has = [any(name in pair[side].metrics for pair in pairs.runs) for side in (0, 1)]
        if not all(has):
            one_sided[name] = arms[has.index(True)]
            continue
        both = [(a.metrics, b.metrics) for a, b in pairs.runs]
        shared = [(a[name], b[name]) for a, b in both if name in a and name in b]
        values[name] = ([a for a, _ in shared], [b for _, b in shared])
    higher = frozenset(n for n in values if any(fnmatchcase(n, p) for p in wanted.higher))
    found = metric_changes(
        values, higher_is_better=higher, correction=wanted.correction, level=LEVEL
    )
    measured = [
        Measured(name, found[name], _spread(a), _spread(b), len(pairs.runs) - len(a))
        for name, (a, b) in values.items()
    ]
    return Changes(measured, one_sided, pairs_needed(len(measured), wanted.correction))


def pairs_needed(metrics: int, correction: Correction, level: float = LEVEL) -> int:
    """Return how many pairs a verdict on one of some metrics needs at least.

    The smallest p of n pairs is 2 / 2**n; Holm multiplies the smallest of m by m.
    """
    factor = max(metrics, 1) if correction == "holm" else 1
    return math.ceil(1.0 + math.log2(factor / (1.0 - level)) - 1e-9)


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread(median(values), min(values), max(values)) if values else None
