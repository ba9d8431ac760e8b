"""Options of `exp metrics`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Measure two commands in pairs: seconds, memory, and any number that they print.

    Every pair runs A and B once, one after the other and never at the same time, in balanced random
    order. Wall time, CPU time and peak memory are measured; a command may print more numbers, as
    one JSON object that starts on a line of its own on standard output (the last such object
    counts, and anything else may stand around it). Lower is better, unless --higher says otherwise.
    The difference is told with its interval, and the ratio where all values are above 0; it is then
    the ratio that is tested.
    """

    arms: tuple[str, ...] = option((), flag="--arm", metavar="NAME=CMD|JSON|FILE")
    """One arm: its name and a command line for /bin/sh, a command task as JSON, or a file with one;
    give two, first A, then B"""
    pairs: Annotated[int, Meta(ge=1, le=100_000)] = option(11, metavar="N")
    """Pairs of runs"""
    warmup: Annotated[int, Meta(ge=0)] = option(0, metavar="N")
    """Runs of each arm before the pairs, not counted"""
    higher: tuple[str, ...] = option((), metavar="METRIC")
    """A metric where higher is better (* and ? wildcards)"""
    metric: tuple[str, ...] = option((), metavar="METRIC")
    """Compare only these metrics (* and ? wildcards)"""
    correction: Literal["holm", "bh", "none"] = option("holm", metavar="METHOD")
    """How p-values allow for the number of metrics: holm (no false alarm among them), bh (few false
    alarms) or none"""
    timeout: Annotated[float, Meta(gt=0)] = option(600.0, metavar="SEC")
    """Time limit of a run, for arms that set no `timeout` of their own; a run over it fails"""
    seed: Annotated[int, Meta(ge=0)] | None = option(None, metavar="N")
    """Seed of the order (default: drawn, and recorded)"""
    name: str | None = option(None, metavar="NAME")
    """Name of the experiment (default: the arms' names)"""
    fail_on_worse: bool = option(default=False)
    """Exit with 1 when B is worse in any metric, and with 2 when the pairs are too few to tell"""
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp metrics --arm base='python old.py' --arm cand='python new.py'",
    "fairtrial exp metrics --arm base=base.json --arm cand=cand.json --pairs 21 --higher score",
    "fairtrial exp metrics --arm a='make a' --arm b='make b' --metric wall_s --fail-on-worse",
)
