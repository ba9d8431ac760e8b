"""Options of `exp plateau`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Should an improvement loop stop? The evidence over its rounds, and the version to ship.

    Each round is paired with the version that the loop goes on from, on the cases that both have.
    A restart e-detector gathers evidence that rounds gain less than --eps: a loop that still gains
    that much stops by mistake only after 1/δ rounds or more on average. Exit 0 to go on, 2 with
    fewer than two gains, 3 to stop.
    """

    experiments: tuple[str, ...] = option((), positional=True)
    """Experiments in the order of the loop, the baseline first; EXPERIMENT:ARM chooses an arm
    (default: --series or --dataset, oldest first)"""
    series: str | None = option(None, metavar="NAME")
    """The experiments that `exp run --series NAME` tagged"""
    dataset: str | None = option(None, short="-d", metavar="NAME[@VERSION]")
    """The finished experiments of one arm on this dataset; NAME is all of its versions"""
    baseline: str | None = option(None, metavar="EXPERIMENT")
    """Version 0 of the loop; what is older is left out"""
    eps: Annotated[float, Meta(gt=0, lt=1)] = option(0.05, metavar="GAIN")
    """Smallest gain a round that is worth another round (0.05 is 5 points)"""
    delta: Annotated[float, Meta(gt=0, lt=1)] = option(0.05, metavar="P")
    """Stop once the evidence reaches 1/δ"""
    gate: Literal["greedy", "chain"] = option("greedy", metavar="GATE")
    """greedy keeps a round only when it beats the version that was kept, chain keeps every one"""
    bet: Literal["agrapa", "fixed", "lbow", "mixture"] = option("agrapa", metavar="BET")
    """How evidence is staked: agrapa, fixed, lbow or mixture"""
    max_gain: Annotated[float, Meta(gt=0, le=1)] = option(1.0, metavar="GAIN")
    """The most that one round can gain, if you know it: a smaller one stops a dead loop sooner"""
    accepted: tuple[str, ...] = option((), metavar="EXPERIMENT")
    """The loop kept this version, whatever its score says"""
    rejected: tuple[str, ...] = option((), metavar="EXPERIMENT")
    """The loop dropped this version, whatever its score says; a chain too goes on without it"""
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp plateau --series prompt-loop",
    "fairtrial exp plateau v0 v1 v2 v3 v4 --gate chain --json",
    "fairtrial exp plateau --series prompt-loop --plot evidence.svg",
    "fairtrial exp run spec.json --name v5 --series prompt-loop",
)
