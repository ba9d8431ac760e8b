"""The tiles of an experiment: each main number, and what became of it since the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fairtrial.app.reports.experiment_page import ExperimentPage
from fairtrial.http.web.experiment_words import score_text
from fairtrial.http.web.words import counted, duration, money, percent
from fairtrial.model.experiment import GraderTotals, Totals
from fairtrial.stats.proportion import Rate

_MOST: Final = 4


@dataclass(frozen=True, slots=True)
class Tile:
    """One number.

    Attributes:
        label: What it is.
        value: The number.
        about: What stands beside it.
        change: Its difference to the baseline's, with its sign; None without one.
        better: Whether that is good; None when it is neither.
        notes: What else must be known.
    """

    label: str
    value: str
    about: str = ""
    change: str | None = None
    better: bool | None = None
    notes: tuple[str, ...] = ()


def tiles_of(report: ExperimentPage) -> list[Tile]:
    """Return the tiles of an experiment: pass rate, graders, cost and duration."""
    totals = report.state.totals
    tiles = [_rate(report)]
    # One grader says the same as the pass rate.
    if len(report.graders) > 1 or any(_not_a_share(one) for one in report.graders):
        tiles += [_grader(one, report.was.get(one.grader)) for one in report.graders[:_MOST]]
    known = f"{totals.costed:,} of {totals.recorded:,} trials say"
    cost = (known,) if totals.cost_usd is not None and totals.costed < totals.recorded else ()
    grading = totals.grading_cost_usd
    grading_note = (f"and grading {money(grading)}",) if grading else ()
    unknown = "no trial told what it cost" if totals.cost_usd is None else ""
    tiles.append(Tile("Cost", money(totals.cost_usd), unknown, notes=(*cost, *grading_note)))
    tiles.append(_duration(totals))
    return tiles


def _duration(totals: Totals) -> Tile:
    mean = totals.mean_duration_s
    if mean is None:
        return Tile("Duration", duration(None), "no trial told how long it took")
    known = f"{totals.timed:,} of {totals.recorded:,} trials say"
    return Tile(
        "Duration", duration(mean), "a trial", notes=(known,) * (totals.timed < totals.recorded)
    )


def _rate(report: ExperimentPage) -> Tile:
    rate, totals = report.pass_rate, report.state.totals
    interval = rate.interval
    about = (
        rate.reason or ""
        if interval is None
        else f"95 % interval {percent(interval.lower)} to {percent(interval.upper)}"
    )
    notes = [counted(rate.n, "case")]
    if totals.undecided:
        notes.append(f"{counted(totals.undecided, 'trial')} undecided")
    change, better = _points(rate, report.was_rate)
    return Tile("Pass rate", percent(rate.estimate), about, change, better, tuple(notes))


def _points(now: Rate, was: Rate | None) -> tuple[str | None, bool | None]:
    if was is None or now.estimate is None or was.estimate is None:
        return None, None
    return _signed(100 * (now.estimate - was.estimate), " points")


def _grader(now: GraderTotals, was: GraderTotals | None) -> Tile:
    change, better = None, None
    if was is not None and now.mean is not None and was.mean is not None:
        gained = now.mean - was.mean
        change, better = _signed(gained) if _not_a_share(now) else _signed(100 * gained, " points")
    unscored = now.total - now.scored
    notes = (f"{counted(unscored, 'trial')} undecided",) if unscored else ()
    return Tile(now.grader, score_text(now), "", change, better, notes)


def _signed(difference: float, unit: str = "") -> tuple[str, bool | None]:
    text = f"{abs(difference):.3g}"
    if float(text) == 0:
        return f"±0{unit}", None
    return f"{'+' if difference > 0 else '−'}{text}{unit}", difference > 0


def _not_a_share(totals: GraderTotals) -> bool:
    return totals.mean is not None and not 0 <= totals.mean <= 1
