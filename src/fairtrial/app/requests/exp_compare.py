"""Options of `exp compare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.file_options import Document, Plot
from fairtrial.app.judging_options import HumanLabels, Judges
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Gate:
    """What a change must show to ship."""

    gate: bool = option(default=False)
    """Ship-or-hold decision: exit 0 when B wins enough without breaking what A solved, else 1; 2
    for too few cases, 4 where the runs cannot be compared"""
    harm_weight: Annotated[float, Meta(ge=1e-6, le=1e6)] | None = option(
        None, flag="--lambda", metavar="N"
    )
    """With --gate: what breaking one solved case costs, in fixed cases (default: 2)"""
    gate_alpha: Annotated[float, Meta(gt=0, lt=0.5)] | None = option(None, metavar="A")
    """With --gate: one-sided error of its test (default: 0.05)"""
    tau: Annotated[float, Meta(ge=0, le=1)] | None = option(None, metavar="T")
    """With --gate: largest share of what A solved that B may break (default: 0.1)"""


@dataclass(frozen=True, slots=True)
class Request:
    """Compare two experiments case by case: what B fixed and broke, by how much, how surely.

    An experiment is named by its id, a unique prefix of 6 or more characters, or its name (the
    newest of that name); EXPERIMENT:ARM chooses one of several arms. Rows are paired by case and
    condition, and their trials folded first.

    With one experiment alone its two arms are compared, a later arm of several with the first one,
    and any other experiment with its baseline (see `exp baseline`). Without --gate and --margin a
    comparison informs and exits 0.
    """

    a: str = option(positional=True)
    """Baseline experiment; alone, the candidate"""
    b: str | None = option(None, positional=True)
    """Candidate experiment; without it, the two arms of A are compared, or A with its baseline"""
    force: bool = option(default=False)
    """Compare what there is of an unfinished experiment too; a gate still refuses it"""
    cluster: str | None = option(None, metavar="KEY")
    """Field of the cases' metadata (repo, session): cases with the same value count as one
    independent unit"""
    ci: Literal["auto", "tango", "newcombe", "guarded-t", "t", "bootstrap"] = option(
        "auto", metavar="METHOD"
    )
    """Interval of B − A: auto, tango, newcombe, guarded-t, t or bootstrap"""
    matrix: bool = option(default=False)
    """Also print how many cases passed so many trials in A and so many in B"""
    margin: Annotated[float, Meta(gt=0, le=1)] | None = option(None, metavar="D")
    """Non-inferiority: exit 1 unless the interval of B − A lies above −D (0.05 is 5 points)"""
    verdict: Literal["pass", "seq"] = option("pass", metavar="ON")
    """What the verdict reads: pass, the pass rate, or seq, Seq@K of two runs that were made with
    the same sequential attempts"""
    ship: Gate = group(Gate)
    judges: Judges = group(Judges)
    caching: Caching = group(Caching)
    people: HumanLabels = group(HumanLabels)
    document: Document = group(Document)
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp compare base cand",
    "fairtrial exp compare base cand --gate",
    "fairtrial exp compare cand",
    "fairtrial exp compare ab:old ab:new",
    "fairtrial exp compare base cheaper --margin 0.03",
    "fairtrial exp compare base cand --cluster repo --json",
    "fairtrial exp compare base cand --pairwise judge.json --labels winners.jsonl --gate",
    "fairtrial exp compare base cand --labels-a base.jsonl --labels-b cand.jsonl",
    "fairtrial exp compare base cand --gate --to markdown -o comment.md",
    "fairtrial exp compare base cand --plot change.svg",
)
