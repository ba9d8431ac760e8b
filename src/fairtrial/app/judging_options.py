"""Options of `exp compare` that bring in other opinions: pairwise judges and people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.schema.fields import JSON_OR_FILE, option


@dataclass(frozen=True, slots=True)
class Judges:
    """Judges that see both outputs side by side."""

    pairwise: tuple[Any, ...] = option((), metavar=JSON_OR_FILE)
    """Pairwise judge, {"kind":"pairwise","name":…,"rubric":…,"provider":…}: judges A's and B's
    outputs side by side, in both orders; with --gate, B ships only if every judge finds it
    better"""
    labels: Path | None = option(None, metavar="FILE")
    """With --pairwise: human labels, JSON array or JSONL of {"caseId","winner":"a"|"b"|"tie"}, to
    calibrate each judge on the test split"""
    concurrency: Annotated[int, Meta(ge=1, le=1024)] | None = option(None, short="-c", metavar="N")
    """With --pairwise: pairs judged at a time (default: 4)"""
    retries: Annotated[int, Meta(ge=0, le=100)] | None = option(None, metavar="N")
    """With --pairwise: retries of a call after a rate limit, 5xx or network error (default: 3)"""


@dataclass(frozen=True, slots=True)
class HumanLabels:
    """People's labels of both arms' outputs."""

    labels_a: Path | None = option(None, metavar="FILE")
    """Human labels of A's outputs, JSON array or JSONL of
    {"caseId","value":"pass"|"fail"|"skip","criterion"?}: adds a PPI++ corrected B − A"""
    labels_b: Path | None = option(None, metavar="FILE")
    """Human labels of B's outputs; required with --labels-a, as labels are never shared across
    arms"""
    min_labels: Annotated[int, Meta(ge=2)] | None = option(None, metavar="N")
    """With --labels-a and --labels-b: fewest usable labels an arm for a corrected difference
    (default: 20)"""
