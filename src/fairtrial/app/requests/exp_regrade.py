"""Options of `exp regrade`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.file_options import Plot
from fairtrial.schema.fields import JSON_OR_FILE, group, option


@dataclass(frozen=True, slots=True)
class Request:
    """Grade stored outputs again with new or changed graders, and show which verdicts flipped.

    No task runs. Without a spec the graders are the experiment's own; a `--grader` is added to
    them, or takes the place of the one with its name. The result is an experiment of its own that
    says where it comes from. Trials without an output (a task error, a time limit, infrastructure)
    keep their verdict.
    """

    SPEC_KEYS: ClassVar[frozenset[str]] = frozenset({"graders"})

    experiment: str = option(positional=True)
    """Experiment id, prefix or name"""
    spec: Path | None = option(None, positional=True)
    """Spec file whose graders to use instead of the experiment's"""
    graders: tuple[Mapping[str, Any] | str, ...] = option(
        (), flag="--grader", short="-g", metavar=JSON_OR_FILE
    )
    """A grader to add, or to use instead of the one with its name"""
    replace_graders: bool = option(default=False)
    """Use only the --grader graders, not the experiment's or the spec's"""
    name: str | None = option(None, metavar="NAME")
    """Name of the new experiment (default: the original's)"""
    k: Annotated[int, Meta(ge=1, le=100)] = option(1, metavar="N")
    """Grade each output N times, and report how much the graders differ with themselves; the first
    time makes the verdict"""
    concurrency: Annotated[int, Meta(ge=1)] = option(4, short="-c", metavar="N")
    """Outputs in grading at most"""
    caching: Caching = group(Caching)
    picture: Plot = group(Plot)


EXAMPLES = (
    "fairtrial exp regrade smoke spec.yaml",
    "fairtrial exp regrade smoke -g strict.json --name smoke-strict",
    """fairtrial exp regrade smoke -g '{"kind":"command","command":"./judge.sh"}' --k 3""",
)
