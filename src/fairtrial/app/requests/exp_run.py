"""Options of `exp run`. A spec file holds the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from fairtrial.app.caching_options import Caching
from fairtrial.app.matrix_options import Matrix
from fairtrial.app.recording_options import Recording
from fairtrial.schema.fields import JSON_OR_FILE, group, option

NEWEST = "newest"
"""`--resume` without a value: the newest unfinished experiment with the same identity."""

Count = Annotated[int, Meta(ge=1)]
Trials = Annotated[int, Meta(ge=1, le=1_000_000)]
InFlight = Annotated[int, Meta(ge=1, le=10_000)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
NotNegative = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases run."""

    split: str | None = option(None, metavar="SPLIT")
    """Only cases in this split"""
    failing: str | None = option(None, metavar="EXPERIMENT")
    """Only the cases this experiment did not solve: at most half of their decided trials passed.
    Never compare the two runs: cases chosen because they failed pass more often when run again,
    with no change at all"""
    errors_from: str | None = option(None, metavar="EXPERIMENT")
    """Only the cases with a task or infrastructure error in this experiment"""
    cases: tuple[str, ...] = option((), flag="--case", metavar="PATTERN")
    """Only cases whose id matches (* and ? wildcards)"""
    sample: str | int | float | None = option(None, metavar="N|SHARE")
    """A random sample of the cases: a count (10) or a share (0.2); the same seed draws the same
    cases"""
    first_n: Count | None = option(None, metavar="N")
    """Only the first N cases in dataset order, after the other selections"""


@dataclass(frozen=True, slots=True)
class Limits:
    """How the trials are run; on a resume, what is not given stays as it was."""

    concurrency: InFlight | None = option(None, short="-c", metavar="N")
    """Trials in flight at most (default: 4)"""
    retries: NotNegative | None = option(None, metavar="N")
    """Further tries of a trial after a rate limit, a 5xx or a network error, with backoff; a failed
    setup is tried once more, a refused login and a failed case never (default: 3)"""
    stop_after_infra: NotNegative | None = option(None, metavar="N")
    """Stop once N trials in a row end on infrastructure after their retries: the run is then no
    quality verdict; 0 never stops (default: 5)"""
    trial_timeout: Annotated[float, Meta(gt=0)] | None = option(None, metavar="SEC")
    """Time limit of a trial, retries included; a trial over it fails (default: none)"""


@dataclass(frozen=True, slots=True)
class Design:
    """What is compared within the run, and which trials depend on earlier ones."""

    arms: Mapping[str, Any] | tuple[str, ...] = option((), flag="--arm", metavar="NAME=JSON|FILE")
    """The task of one arm; give two, A then B, in place of --task: they run interleaved case by
    case and are compared at the end"""
    stop_early: bool = option(default=False)
    """With two arms: look at the cases finished so far and stop once the evidence suffices (group
    sequential test, O'Brien-Fleming boundaries)"""
    looks: Annotated[int, Meta(ge=2, le=20)] | None = option(None, metavar="N")
    """With --stop-early: planned looks over all cases, the last one included (default: 4)"""
    max_cases: Count | None = option(None, metavar="N")
    """Run at most N cases, drawn at random with the seed (0 without one), after the
    other selections"""
    samples: Literal["fixed", "adaptive"] = option("fixed", metavar="MODE")
    """adaptive: two trials a case, and a third where they disagree; most of them decide, and no
    interval is reported"""
    seq: Annotated[int, Meta(ge=2, le=10)] | None = option(None, metavar="K")
    """Sequential attempts: a trial that fails is tried again with feedback, up to K attempts (2 to
    10). The pass rate stays that of the first; Seq@1 to Seq@K are reported beside it. Command and
    http tasks need "envelope": true"""
    feedback: str | Mapping[str, Any] | None = option(None, metavar="MODE")
    """With --seq, what an attempt is told of those before it: bit (only that it failed), reasons
    (those of the failed graders, at most 3 of 300 characters) or critic=GRADER (what a further
    grader, JSON, FILE or a kind, says; it decides nothing). Never what is expected (default:
    reasons)"""
    seq_history: Literal["full", "last"] | None = option(None, metavar="MODE")
    """With --seq, which earlier attempts one sees: full, all of them, or only the last (default:
    full)"""
    stop_on_regression: bool = option(default=False)
    """Stop, with exit status 1, once a case that passed in every trial of --baseline fails, and
    fails again in two reruns"""
    baseline: str | None = option(None, metavar="EXPERIMENT[:ARM]")
    """With --stop-on-regression: the stored experiment that the run is held to"""


@dataclass(frozen=True, slots=True)
class Watching:
    """Run again whenever something changes."""

    watching: bool = option(default=False, flag="--watch")
    """Run again whenever the spec, a file of the task or a --watch-path changes, and grade the
    stored outputs again where only graders did; Enter runs again, q quits"""
    watch: tuple[str, ...] = option((), flag="--watch-path", metavar="GLOB")
    """With --watch: further files whose change runs the task again, e.g. 'prompts/**/*.md'"""


@dataclass(frozen=True, slots=True)
class Setup:
    """What is run, and how; every verb that runs trials of a task takes it."""

    dataset: str | None = option(None, short="-d", metavar="NAME[@VERSION]")
    """Dataset to run on; NAME is its newest version"""
    task: Mapping[str, Any] | None = option(None, metavar=JSON_OR_FILE)
    """What turns a case into an output, e.g. '{"kind":"command","command":"python agent.py"}' (gets
    the case input as JSON on stdin), or kind http or python"""
    graders: tuple[Mapping[str, Any] | str, ...] = option(
        (), flag="--grader", short="-g", metavar=JSON_OR_FILE
    )
    """What turns an output into a score, e.g. exact or '{"kind":"number","absolute":0.01}'"""
    replace_graders: bool = option(default=False)
    """Use only the --grader graders, not the spec file's"""
    name: Name | None = option(None, metavar="NAME")
    """Name of the experiment (default: the dataset's)"""
    trials: Trials = option(1, metavar="N")
    """Trials a case"""
    seed: NotNegative | None = option(None, metavar="N")
    """Seed of the order and of each trial's own seed (default: drawn, and recorded); with --sample
    also of the draw (default there: 0)"""
    selection: Selection = group(Selection)
    limits: Limits = group(Limits)
    resume: str | None = option(None, metavar="EXPERIMENT", bare=NEWEST)
    """Continue an interrupted experiment: finished trials are kept, only the rest run (no value:
    the newest unfinished one with the same dataset, task and graders)"""


@dataclass(frozen=True, slots=True)
class Request(Setup):
    """Run a task over a dataset and grade every output.

    A spec file (JSON, YAML or TOML) holds the same options, with `_` for `-` and in the plural
    where an option is repeatable (`graders`, `cases`); options override it, and `--grader` adds to
    its graders. Relative paths in it, and the task's working directory, start at its folder.
    """

    spec: Path | None = option(None, positional=True)
    """Spec file"""
    design: Design = group(Design)
    matrix: Matrix = group(Matrix)
    recording: Recording = group(Recording)
    max_cost: Annotated[float, Meta(gt=0)] | None = option(None, metavar="USD")
    """What the task's and the graders' models may cost together, trials on record included: the run
    does not start when more is expected or a model has no known price, and no trial starts that
    would pass it; a resume may change it (default: no limit)"""
    caching: Caching = group(Caching)
    gate: tuple[Mapping[str, Any], ...] = option((), hidden=True)
    """Rules of a release gate: they are held against the run when it ends, and `exp gate` holds
    them against it again"""
    series: Name | None = option(None, metavar="NAME")
    """Tag the experiment as the next round of an improvement loop, and say whether the loop should
    stop (see `exp plateau`)"""
    watching: Watching = group(Watching)
    session: bool = option(default=True)
    """In an open session (see `exp session`), add the run to its timeline and say what changed
    since the run before"""
    retry_errors: bool = option(default=False)
    """With --resume EXPERIMENT: run its trials that ended in a task error again too, also those of
    a finished experiment; the rest are kept"""
    dry_run: bool = option(default=False)
    """Print the plan (cases, trials, seed, what is kept, what it may cost) and run nothing"""


EXAMPLES = (
    "fairtrial exp run spec.yaml",
    'fairtrial exp run -d smoke --task \'{"kind":"command","command":"cat"}\' -g exact',
    "fairtrial exp run spec.yaml --trials 3 --split test --concurrency 8",
    "fairtrial exp run -d smoke -g exact --arm base=base.json --arm cand=cand.json --stop-early",
    "fairtrial exp run spec.yaml --seq 3 --feedback reasons",
    "fairtrial exp run matrix.yaml --plan",
    "fairtrial exp run spec.yaml --record --name before",
    "fairtrial exp run changed.yaml --replay before",
    "fairtrial exp run spec.yaml --watch",
    "fairtrial exp run spec.yaml --resume",
)
