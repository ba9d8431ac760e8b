"""Options of `exp aa`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fairtrial.app.file_options import Plot
from fairtrial.app.requests.exp_run import Setup
from fairtrial.schema.fields import group, option, options_of


@dataclass(frozen=True, slots=True)
class Request(Setup):
    """Run one configuration twice, or compare two runs of it, and keep its noise floor.

    The two runs are the arms a1 and a2 of one experiment, interleaved case by case. What is kept
    under the dataset, the task and the graders: how often a verdict flips, how much cases scatter,
    and the smallest difference that a comparison of a size can show. Without --name, the experiment
    is called after the spec or the dataset, with -aa at its end.
    """

    SPEC_KEYS: ClassVar = frozenset(
        option.name for option in options_of(Setup) if option.name != "name"
    )
    EXPERIMENT_OR_SPEC: ClassVar[str] = "a"

    a: str | None = option(None, positional=True)
    """Spec file to run twice; or a stored run, EXPERIMENT or EXPERIMENT:ARM; or an experiment of
    two arms"""
    b: str | None = option(None, positional=True)
    """The second stored run; nothing is run then"""
    spec: Path | None = option(None, hidden=True)
    """The spec file"""
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp aa spec.yaml --trials 3",
    'fairtrial exp aa -d smoke --task \'{"kind":"command","command":"cat"}\' -g exact',
    "fairtrial exp aa smoke-monday smoke-tuesday",
    "fairtrial exp aa smoke:a1 smoke:a2",
    "fairtrial exp aa smoke-monday smoke-tuesday --plot noise.svg",
)
