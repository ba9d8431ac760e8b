"""Options of `exp gate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Hold an experiment against the rules of a release gate: ship or hold.

    The rules are those of --rules, else the `gate` list of its spec, else the project's (--set).
    Exit code 0: every rule is kept. 1: a rule is broken. 2: none is broken, but one cannot be
    decided. 4: the run says nothing about quality.
    """

    experiment: str | None = option(None, positional=True)
    """Experiment id, prefix or name"""
    baseline: str | None = option(None, metavar="EXPERIMENT")
    """What rules about deltas compare with (default: the project's baseline, else the newest
    earlier experiment of its kind)"""
    rules: Path | None = option(None, metavar="FILE")
    """Rules to use instead: a file with a list of rules, or a spec with `gate`"""
    arm: str | None = option(None, metavar="NAME")
    """The arm to judge (default: the last; the first is then its baseline)"""
    set: Path | None = option(None, metavar="FILE")
    """Keep the rules of this file as the project's, for experiments whose spec has none"""
    clear: bool = option(default=False)
    """Forget the project's rules"""
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp gate candidate",
    "fairtrial exp gate candidate --baseline main-run --rules gate.yaml",
    "fairtrial exp gate --set gate.yaml",
)
