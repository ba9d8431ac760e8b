"""`exp plateau`: should an improvement loop stop, and which version ships?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final

from fairtrial.analysis.loop_rounds import loop_of
from fairtrial.analysis.plateau import PlateauRules
from fairtrial.app.bench import Bench
from fairtrial.app.chosen_arms import ChosenArm, find_arm
from fairtrial.app.loops import (
    Said,
    arms_of_series,
    arms_on_dataset,
    check_once,
    check_said,
    from_baseline,
    ids_of,
    versions_of,
)
from fairtrial.app.picturing import checked_plot, pictured
from fairtrial.app.reports.accompanied import AccompaniedReport
from fairtrial.app.reports.plateau import PlateauReport
from fairtrial.app.requests.exp_plateau import Request
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.stats.edetector.bets import MIXTURE, Agrapa, Bet, Fixed, LowerBound

_BETS: Final[Mapping[str, Bet]] = {
    "agrapa": Agrapa(),
    "fixed": Fixed((0.5,)),
    "lbow": LowerBound(),
    "mixture": MIXTURE,
}


def exp_plateau(bench: Bench, request: Request) -> PlateauReport | AccompaniedReport:
    """Decide whether an improvement loop stops.

    Raises:
        UsageError: no loop is named, or two are; or the picture cannot be written.
        NotFoundError: an experiment does not exist, or a series has none.
        StoreError: the store cannot be read.
    """
    path = checked_plot(bench, request.picture.plot)
    of, arms = _arms(bench, request)
    if request.baseline is not None:
        arms = from_baseline(bench, arms, request.baseline)
    said = Said(ids_of(bench, request.accepted), ids_of(bench, request.rejected))
    check_said(said, arms)
    rules = PlateauRules(
        eps=request.eps,
        delta=request.delta,
        max_gain=request.max_gain,
        mode=request.gate,
        bet=_BETS[request.bet],
    )
    report = PlateauReport(of, loop_of(versions_of(bench, arms, said), rules), rules)
    if path is None:
        return report
    from fairtrial.app.plots.plateau import plateau_picture  # noqa: PLC0415  # rarely asked

    return pictured(report, plateau_picture(report), path)


def plateau_of_series(bench: Bench, series: str) -> PlateauReport:
    """Return how a series stands by the usual rules, as `exp run --series` says at its end."""
    usual = Request()
    rules = PlateauRules(eps=usual.eps, delta=usual.delta)
    versions = versions_of(bench, arms_of_series(bench, series))
    return PlateauReport(f"series {series}", loop_of(versions, rules), rules)


def _arms(bench: Bench, request: Request) -> tuple[str, list[ChosenArm]]:
    named = [
        what
        for what, there in (
            ("experiments", request.experiments or None),
            ("--series", request.series),
            ("--dataset", request.dataset),
        )
        if there is not None
    ]
    if not named:
        raise UsageError("which loop?", fix="name its experiments, --series NAME or --dataset NAME")
    if len(named) > 1:
        raise UsageError(f"{named[0]} and {named[1]} both name a loop", fix="choose one")
    if request.series is not None:
        arms = arms_of_series(bench, request.series)
        if not arms:
            raise NotFoundError(
                f"there is no experiment in a series {request.series!r}",
                fix=f"add one: fairtrial exp run SPEC --series {shlex.quote(request.series)}",
            )
        return f"series {request.series}", arms
    if request.dataset is not None:
        version = bench.store.datasets.version(request.dataset)
        one_version = "@" in request.dataset
        name = version.ref if one_version else version.dataset
        arms = arms_on_dataset(bench, version.dataset, version.number if one_version else None)
        if not arms:
            raise NotFoundError(
                f"there is no finished experiment of one arm on {name}",
                fix="see: fairtrial exp list",
            )
        return f"dataset {name}", arms
    arms = [find_arm(bench, ref) for ref in request.experiments]
    check_once(arms)
    return "1 experiment" if len(arms) == 1 else f"{len(arms)} experiments", arms
