"""Options of `exp power`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import group, option

Share = Annotated[float, Meta(gt=0, lt=1)]


@dataclass(frozen=True, slots=True)
class Request:
    """Plan a comparison: how many cases and trials an effect needs.

    With --effect, the cases it needs; with --cases, the smallest effect they show; with both, the
    chance to see it. How much an unchanged agent scatters is read from an experiment with two or
    more trials (--from), given (--flip-rate), or guessed.
    """

    effect: Share | None = option(None, metavar="SHARE")
    """Difference of the pass rates to be seen (0.05 = 5 percentage points)"""
    cases: Annotated[int, Meta(ge=2, le=1_000_000)] | None = option(None, metavar="N")
    """Cases of the comparison"""
    trials: Annotated[int, Meta(ge=1, le=1_000)] = option(1, metavar="N")
    """Trials a case, in each of the two arms"""
    power: Annotated[float, Meta(ge=0.5, lt=1)] = option(0.8, metavar="SHARE")
    """How often a real effect of this size shall be seen"""
    alpha: Annotated[float, Meta(ge=1e-9, le=0.5)] = option(0.05, metavar="SHARE")
    """How often, at most, an effect shall be seen although there is none"""
    flip_rate: Annotated[float, Meta(ge=0, le=0.5)] | None = option(None, metavar="SHARE")
    """A guess at the noise: how often the verdict of a case flips when an unchanged agent runs it
    twice (default: 0.25)"""
    from_: str | None = option(None, flag="--from", metavar="EXPERIMENT")
    """Take the noise from this experiment, which must have two or more trials a case"""
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp power --effect 0.05",
    "fairtrial exp power --cases 100 --trials 3",
    "fairtrial exp power --effect 0.1 --cases 100 --from nightly",
    "fairtrial exp power --effect 0.1 --trials 3 --plot plan.svg",
)
