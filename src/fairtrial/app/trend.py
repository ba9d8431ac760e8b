"""How a series of experiments, or those on a dataset, went over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.exp_plateau import exp_plateau
from fairtrial.app.noise_floors import floor_of
from fairtrial.app.pass_rates import pass_rate_of
from fairtrial.app.reports.plateau import PlateauReport
from fairtrial.app.requests.exp_plateau import Request as PlateauRequest
from fairtrial.interchange.pictures.of_comparison import TWO_SIDED_95
from fairtrial.interchange.pictures.over_time import Point
from fairtrial.model.errors import DefectError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.noise import StoredFloor
from fairtrial.stats.proportion import Rate
from fairtrial.store.names import names

_SHOWN: Final = 60
"""Versions of a trend that are shown, the newest ones."""


@dataclass(frozen=True, slots=True)
class TrendVersion:
    """One version of a trend.

    Attributes:
        state: Its experiment.
        rate: Its pass rate.
        number: Its round, from 0; None when it is left out.
        left_out: Why it is no round; None when it is one.
        change: Its pass rate less that of the version it is held against.
        gain: What the loop gained by it.
        evidence: The evidence after it that rounds gain little; None where it tells nothing.
        kept: Whether the loop goes on from it.
    """

    state: ExperimentState
    rate: Rate
    number: int | None
    left_out: str | None
    change: float | None
    gain: float | None
    evidence: float | None
    kept: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """A trend.

    Attributes:
        report: What `exp plateau` says of it.
        versions: The versions, the oldest first.
        left_off: How many older ones are not shown.
        noise: The pass rates between which the first shown version mostly falls, unchanged; None
            when nobody measured it.
        floor: Where that was measured.
    """

    report: PlateauReport
    versions: Sequence[TrendVersion]
    left_off: int
    noise: tuple[float, float] | None
    floor: StoredFloor | None

    @property
    def points(self) -> list[Point]:
        """The versions as a picture draws them."""
        return [
            Point(
                one.state.experiment.name,
                one.rate.estimate,
                None
                if one.rate.interval is None
                else (one.rate.interval.lower, one.rate.interval.upper),
            )
            for one in self.versions
        ]


def trend(bench: Bench, *, series: str | None, dataset: str | None) -> Trend:
    """Return how a series, or the experiments on a dataset, went.

    Raises:
        UsageError: neither is named, or both are.
        NotFoundError: there is no such series or dataset, or nothing ran on it.
    """
    report = exp_plateau(bench, PlateauRequest(series=series, dataset=dataset))
    if not isinstance(report, PlateauReport):
        raise DefectError(f"a loop is told as {type(report).__name__}")
    told = report.told[-_SHOWN:]
    store = bench.store.experiments
    versions = []
    for number, one, _, evidence in told:
        state = store.find(one.version.id)
        rate = pass_rate_of(store, state.experiment, state.experiment.arms[-1])
        said = (one.left_out, one.change, one.gain, evidence, one.kept)
        versions.append(TrendVersion(state, rate, number, *said))
    floor = _floor(bench, versions)
    return Trend(report, versions, len(report.told) - len(told), _noise(versions, floor), floor)


def trends(bench: Bench) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of all series, and of all datasets."""
    datasets = [version.dataset for version in bench.store.datasets.versions()]
    return sorted(names(bench.home, "experiments.series", None)), datasets


def _floor(bench: Bench, versions: Sequence[TrendVersion]) -> StoredFloor | None:
    """Return the noise floor of the newest version that has one."""
    floors = (floor_of(bench, one.state.experiment) for one in reversed(versions))
    return next((floor for floor in floors if floor is not None), None)


def _noise(
    versions: Sequence[TrendVersion], floor: StoredFloor | None
) -> tuple[float, float] | None:
    if floor is None or not versions:
        return None
    first = versions[0]
    if first.rate.estimate is None or not first.rate.n:
        return None
    reach = TWO_SIDED_95 * floor.luck_at(first.rate.n, first.state.experiment.trials).sd
    return first.rate.estimate - reach, first.rate.estimate + reach
