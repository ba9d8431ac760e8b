"""The tiles of an experiment: each main number, and what became of it since the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fairtrial.app.reports.experiment_page import ExperimentPage
from fairtrial.http.web.experiment_words import negated_of, score_text
from fairtrial.http.web.words import DASH, counted, duration, money, percent, points, signed
from fairtrial.model.experiment import GraderTotals, Totals
from fairtrial.stats.interval import Interval
from fairtrial.stats.proportion import Rate

_MOST: Final = 4
_RATE_MEANS: Final = (
    "Mean over cases of the share of their decided trials that passed; undecided trials are in no "
    "rate. Below it its 95 % interval."
)
_MEAN_MEANS: Final = "Mean of the grader's scores over all trials that it scored"
_HITS_MEANS: Final = "Trials in which it was found; the fewer the better, as the grader has `not`"
_DURATION_MEANS: Final = "Mean time of a trial: its last try, without the grading"


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
        means: What the number is, for whoever points at it.
    """

    label: str
    value: str
    about: str = ""
    change: str | None = None
    better: bool | None = None
    notes: tuple[str, ...] = ()
    means: str = ""


def tiles_of(report: ExperimentPage) -> list[Tile]:
    """Return the tiles of an experiment: pass rate, graders, cost and duration."""
    totals = report.state.totals
    tiles = [_rate(report)]
    # One grader says the same as the pass rate.
    if len(report.graders) > 1 or any(_not_a_share(one) for one in report.graders):
        negated = negated_of(report.state.experiment)
        several = len(report.state.experiment.arms) > 1
        tiles += [
            _hits(one, report.was.get(one.grader), several=several)
            if one.grader in negated
            else _grader(one, report.was.get(one.grader), several=several)
            for one in report.graders[:_MOST]
        ]
    known = f"{totals.costed:,} of {totals.recorded:,} trials tell it"
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
    known = f"{totals.timed:,} of {totals.recorded:,} trials tell it"
    return Tile(
        "Duration",
        duration(mean),
        "a trial",
        notes=(known,) * (totals.timed < totals.recorded),
        means=_DURATION_MEANS,
    )


def _rate(report: ExperimentPage) -> Tile:
    rate, totals = report.pass_rate, report.state.totals
    interval = rate.interval
    about = rate.reason or "" if interval is None else f"95 % interval {_range(interval)}"
    notes = [f"over {counted(rate.n, 'case')}"]
    arms = report.state.experiment.arms
    if len(arms) > 1:
        notes.insert(0, f"arm {arms[-1]}")
    if totals.undecided:
        where = " in all arms" if len(arms) > 1 else ""
        notes.append(f"{counted(totals.undecided, 'trial')} undecided{where}")
    change, better = _points(rate, report.was_rate)
    return Tile(
        "Pass rate", percent(rate.estimate), about, change, better, tuple(notes), _RATE_MEANS
    )


def _range(interval: Interval) -> str:
    """Return an interval of shares in one piece that is not broken across lines."""
    lower, upper = percent(interval.lower), percent(interval.upper)
    return f"{lower.removesuffix(' %')}–\u2060{upper}".replace(" ", "\u00a0")


def _points(now: Rate, was: Rate | None) -> tuple[str | None, bool | None]:
    if was is None or now.estimate is None or was.estimate is None:
        return None, None
    return _moved(now.estimate - was.estimate, share=True)


def _grader(now: GraderTotals, was: GraderTotals | None, *, several: bool) -> Tile:
    change, better = None, None
    # The totals are those of all arms, which say nothing of one arm's change.
    about = "over all arms" if several else ""
    if not several and was is not None and now.mean is not None and was.mean is not None:
        change, better = _moved(now.mean - was.mean, share=not _not_a_share(now))
    unscored = now.total - now.scored
    notes = (f"{counted(unscored, 'trial')} undecided",) if unscored else ()
    return Tile(now.grader, score_text(now), about, change, better, notes, _MEAN_MEANS)


def _hits(now: GraderTotals, was: GraderTotals | None, *, several: bool) -> Tile:
    """Return the tile of what had better not happen: how often it did."""
    change, better = None, None
    if not several and was is not None and now.scored and was.scored:
        more = _hit(now) / now.scored - _hit(was) / was.scored
        change, risen = _moved(more, share=True)
        better = None if risen is None else not risen
    unscored = now.total - now.scored
    notes = (f"{counted(unscored, 'trial')} undecided",) if unscored else ()
    value = f"{_hit(now):,}" if now.scored else DASH
    about = f"of {counted(now.scored, 'trial')} hit it"
    return Tile(now.grader, value, about, change, better, notes, _HITS_MEANS)


def _hit(totals: GraderTotals) -> int:
    return totals.scored - totals.passed


def _moved(difference: float, *, share: bool) -> tuple[str, bool | None]:
    text = f"{points(difference)} points" if share else signed(difference)
    return text, None if text.startswith("±0") else difference > 0


def _not_a_share(totals: GraderTotals) -> bool:
    return totals.mean is not None and not 0 <= totals.mean <= 1
