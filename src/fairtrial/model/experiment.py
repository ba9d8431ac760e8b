"""An experiment: a plan, its provenance, and where it stands."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from fairtrial.model.json import Json, content_hash
from fairtrial.model.verdict import Cause

AA_ARMS = ("a1", "a2")
"""The arms of an A/A experiment: one configuration, run twice."""
REPLAY_ARMS = ("A", "B")
AB_ARMS = ("A", "B")
"""The arms of a replay of recorded calls: as they were, or varied, and varied otherwise."""


class Status(StrEnum):
    """Where an experiment stands."""

    RUNNING = "running"
    """A process is at it, or was until it died: `heartbeat_at` tells which."""
    FINISHED = "finished"
    """Every planned trial is recorded."""
    INTERRUPTED = "interrupted"
    """Stopped by the user; `--resume` goes on."""
    STOPPED = "stopped"
    """Stopped by a rule, e.g. an infrastructure streak; `--resume` goes on."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where and with what an experiment ran.

    Attributes:
        fairtrial: The version of fairtrial.
        python: The version of Python.
        host: The machine's name.
        cwd: The working directory.
        git_commit: Commit of the repository around `cwd`, if there is one.
        git_branch: Its branch.
        git_dirty: Whether tracked files differed from the commit.
        environment: `dev`, `staging`, `prod` or `ci`.
        pull_request: Number of the pull or merge request that it ran for, as its CI tells.
        source: What made it, where its spec does not tell: `sdk`, `pytest`, `api`,
            `push`.
    """

    fairtrial: str
    python: str
    host: str
    cwd: str
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    environment: str = "dev"
    pull_request: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is fixed when an experiment is opened.

    Attributes:
        id: `exp_` and a ULID.
        name: Given, or the dataset's name.
        dataset: The dataset's name.
        dataset_number: The version's number; below 0 while its cases gather, as another program
            reports them.
        dataset_digest: The version's content hash.
        arms: Arm names, baseline first.
        trials: Trials a case and arm.
        n_cases: Selected cases.
        seed: Seed of the order and of the trials' own seeds.
        spec: Task, graders, arms and selection as JSON, complete enough to run it again.
        policy: Retries, concurrency and limits as JSON: what a resume may change.
        identity: Hash of what makes two runs the same experiment.
        provenance: Where and with what it ran.
        created_at: When it was opened (UTC).
        series: The improvement loop that it is a round of; None when it is of none.
    """

    id: str
    name: str
    dataset: str
    dataset_number: int
    dataset_digest: str
    arms: tuple[str, ...]
    trials: int
    n_cases: int
    seed: int
    spec: Mapping[str, Json]
    policy: Mapping[str, Json]
    identity: str
    provenance: Provenance
    created_at: datetime
    series: str | None = None

    @property
    def gathers(self) -> bool:
        """Whether its cases come with its trials; they become a version when it ends."""
        return self.dataset_number < 0

    @property
    def dataset_ref(self) -> str:
        """Its dataset version, `NAME@NUMBER`; the name alone while its cases gather."""
        return self.dataset if self.gathers else f"{self.dataset}@{self.dataset_number}"

    @property
    def on_dataset(self) -> str:
        """Its dataset version in words."""
        return (
            f"{self.dataset_ref} (version when it finishes)" if self.gathers else self.dataset_ref
        )

    @property
    def n_planned(self) -> int:
        """How many trials the plan holds; with a design, how many there are at most."""
        told = self.spec.get("design", {}).get("planned")
        return self.n_cases * len(self.arms) * self.trials if told is None else int(told)

    @property
    def may_run_fewer(self) -> bool:
        """Whether its design may end, or leave out trials, before all that were planned ran."""
        return self.spec.get("design", {}).get("kind") not in (None, "seq", "halving")

    @property
    def configurations(self) -> tuple[str, ...]:
        """A hash of each distinct task that it ran, with the file of the task's own program.

        None for what ran no task: a regrade, and pairs of measurements.
        """
        return tuple(dict.fromkeys(self.configuration_of_arms.values()))

    @property
    def configuration_of_arms(self) -> dict[str, str]:
        """The hash of each arm's task, with the file of the task's own program."""
        arms = self.spec.get("arms")
        if self.regrade_of is not None or self.measured or not isinstance(arms, Mapping):
            return {}
        scripts = self.spec.get("task_scripts") or {}
        # An arm has its folder in its task, a task that is alone may have it beside it.
        start = str(self.spec.get("base_dir", ""))
        found = {}
        for name, task in arms.items():
            folder = posixpath.normpath(posixpath.join(start, str(task.get("cwd") or "")))
            told = {"task": {**task, "cwd": folder}, "script": scripts.get(name)}
            found[name] = content_hash(told)
        return found

    @property
    def regrade_of(self) -> str | None:
        """The id of the experiment whose outputs it graded again; None when it ran a task."""
        origin = self.spec.get("regrade_of")
        return None if origin is None else str(origin)

    @property
    def is_aa(self) -> bool:
        """Whether it ran one configuration twice, to see how much differs when nothing differs."""
        tasks = self.spec.get("arms") or {}
        return self.arms == AA_ARMS and tasks.get(AA_ARMS[0]) == tasks.get(AA_ARMS[1])

    @property
    def is_eval(self) -> bool:
        """Whether coding agents worked on eval tasks in it, also where it grades them again."""
        tasks = self.spec.get("arms")
        return isinstance(tasks, Mapping) and any(
            isinstance(task, Mapping) and task.get("kind") == "agent" for task in tasks.values()
        )

    @property
    def is_reported(self) -> bool:
        """Whether another program ran it and reported what came of it."""
        tasks = self.spec.get("arms")
        return isinstance(tasks, Mapping) and any(
            isinstance(task, Mapping) and task.get("kind") == "reported" for task in tasks.values()
        )

    @property
    def is_replay(self) -> bool:
        """Whether it put recorded model calls to a model again, in two arms."""
        tasks = (self.spec.get("arms") or {}).values()
        kinds = all(one.get("kind") == "continuation" for one in tasks)
        return self.arms == REPLAY_ARMS and kinds and not self.is_ab

    @property
    def is_ab(self) -> bool:
        """Whether it tried an edit of a harness on decision points."""
        return "ab" in self.spec

    @property
    def measured(self) -> bool:
        """Whether it measures two commands in pairs (`exp metrics`) and judges no output."""
        return "metrics" in self.spec


@dataclass(frozen=True, slots=True)
class ReusedTotals:
    """Model answers over an experiment's trials that were served again instead of asked for.

    Attributes:
        source: `cache` or `recording`.
        trials: Trials that were served some.
        calls: How many answers.
        tokens: What their calls had read and written; None when none is known.
        cost_usd: What they had cost: what was saved. None when none is known.
        costed: How many of the trials say what was saved.
    """

    source: str
    trials: int
    calls: int
    tokens: int | None
    cost_usd: float | None
    costed: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over an experiment's recorded trials, kept as they land.

    Attributes:
        passed: Trials that passed.
        failed: Trials that failed.
        undecided: Trials without a verdict.
        causes: Trials per cause, for those that have one.
        rows: Rows with at least one recorded trial.
        flaky_rows: Rows of which some trials passed and some failed.
        cost_usd: Sum of the known costs; None when none is known.
        costed: How many trials reported a cost.
        duration_s: Sum of the known durations of trials; None when none is known.
        timed: How many trials have a known duration.
        grading_cost_usd: Sum of the known costs of judges; None when none is known.
        grading_costed: How many trials' grading has a known cost.
        reused: What was served again, one a source.
    """

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    causes: Mapping[Cause, int] = field(default_factory=dict)
    rows: int = 0
    flaky_rows: int = 0
    cost_usd: float | None = None
    costed: int = 0
    duration_s: float | None = None
    timed: int = 0
    grading_cost_usd: float | None = None
    grading_costed: int = 0
    reused: tuple[ReusedTotals, ...] = ()

    @property
    def mean_duration_s(self) -> float | None:
        """Mean seconds of the trials whose duration is known; None when none is."""
        return None if self.duration_s is None else self.duration_s / self.timed

    @property
    def recorded(self) -> int:
        """Trials on record, decided or not."""
        return self.passed + self.failed + self.undecided

    @property
    def decided(self) -> int:
        """Trials with a verdict: the denominator of the pass rate."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True)
class ExperimentState:
    """An experiment with where it stands now.

    Attributes:
        experiment: What was fixed when it was opened.
        status: Where it stands.
        status_reason: Why it is not finished, in one line.
        totals: Counts over its recorded trials.
        heartbeat_at: When its process last wrote (UTC).
        finished_at: When it ended; None while it runs.
        alive: Whether the process that is at it lives; None when this cannot be told, e.g.
            because it ran on another host. False unless `status` is running.
    """

    experiment: Experiment
    status: Status
    status_reason: str | None
    totals: Totals
    heartbeat_at: datetime
    finished_at: datetime | None
    alive: bool | None = None

    @property
    def died(self) -> bool:
        """Whether it is called running, and the process that was at it is gone."""
        return self.status is Status.RUNNING and self.alive is False

    @property
    def standing(self) -> str:
        """Where it stands, in words."""
        return "died (its process is gone)" if self.died else self.status.value


@dataclass(frozen=True, slots=True)
class GraderTotals:
    """One grader over an experiment's recorded trials.

    Attributes:
        grader: Its name.
        scored: Trials it gave a value.
        total: Trials it was asked about.
        mean: Mean of the values; None when there is none.
        passed: Trials that passed it.
    """

    grader: str
    scored: int
    total: int
    mean: float | None
    passed: int
