"""What other programs send to report an experiment: the bodies of the API, with their meaning."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=10_000)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
Count = Annotated[int, Meta(ge=0, le=2**53)]
Value = Annotated[float, Meta(ge=-1e12, le=1e12)]


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A JSON object whose keys are all known."""


class ReportedGrader(Body, frozen=True):
    """A grader that scored elsewhere. Whether a score passes is decided here."""

    name: Annotated[str, Meta(min_length=1, max_length=100, description="Its name; unique")]
    threshold: Annotated[
        Value, Meta(description="A score passes when its value is at least this")
    ] = 0.5
    weight: Annotated[
        float, Meta(ge=0, le=1e6, description="Its share in a trial's main score")
    ] = 1.0
    required: Annotated[
        bool, Meta(description="Whether failing it, or its absence, decides the trial")
    ] = True
    lower_is_better: Annotated[
        bool,
        Meta(
            description="A score v passes up to the threshold, and counts as 1 - v, as with `not` "
            "in a spec"
        ),
    ] = False


class ReportedGit(Body, frozen=True):
    """The commit that ran."""

    commit: Annotated[str, Meta(pattern=r"^[0-9a-fA-F]{7,64}$(?!\n)")] | None = None
    branch: Annotated[str, Meta(max_length=500)] | None = None
    dirty: Annotated[bool, Meta(description="Whether files differed from the commit")] | None = None


class NewExperiment(Body, frozen=True):
    """An experiment whose trials another program reports."""

    name: Annotated[Name, Meta(description="What it is called")]
    graders: Annotated[
        list[ReportedGrader],
        Meta(min_length=1, max_length=100, description="Who scored; one at least is required"),
    ]
    dataset: (
        Annotated[
            Name,
            Meta(
                description="The dataset that the rows' cases become a version of when it ends "
                "(default: its name). Not with `dataset_version`"
            ),
        ]
        | None
    ) = None
    dataset_version: (
        Annotated[
            Annotated[str, Meta(min_length=1, max_length=300)],
            Meta(
                description="The stored cases that rows are matched with, by id or by their input: "
                "NAME (the newest), NAME@NUMBER or NAME@HASH"
            ),
        ]
        | None
    ) = None
    arms: Annotated[
        list[Name], Meta(min_length=1, max_length=100, description="Arm names, baseline first")
    ] = msgspec.field(default_factory=lambda: ["main"])
    target: Annotated[Text, Meta(description="What was tested: a program, a service")] | None = None
    version: Annotated[Text, Meta(description="The version of it that was tested")] | None = None
    model: Annotated[Text, Meta(description="The model behind it")] | None = None
    environment: Literal["dev", "staging", "prod", "ci"] = "dev"
    git: ReportedGit | None = None
    pull_request: Annotated[str, Meta(pattern=r"^[0-9]{1,12}$(?!\n)")] | None = None
    series: Annotated[Name, Meta(description="The loop that it is a round of")] | None = None
    baseline: (
        Annotated[
            Name, Meta(description="What to compare it with: an experiment's id, prefix or name")
        ]
        | None
    ) = None
    gate: Annotated[
        list[dict[str, Any]],
        Meta(max_length=100, description="Rules of its release gate, as in a spec"),
    ] = []
    metadata: Annotated[dict[str, Any], Meta(description="Named facts that are kept with it")] = {}
    source: Annotated[
        Literal["api", "push"], Meta(description="What reports it: a program, or `fairtrial push`")
    ] = "api"
    content: (
        Annotated[
            str,
            Meta(
                pattern=r"^[0-9a-f]{64}$(?!\n)",
                description="A hash of all that is reported: where an experiment of the project "
                "has the same, it is answered (`again`) instead of opening another one",
            ),
        ]
        | None
    ) = None


class ReportedScore(Body, frozen=True):
    """A grader's score with its words."""

    value: Annotated[Value, Meta(description="Null when there is none")] | None
    reason: Text | None = None
    cost_usd: (
        Annotated[Amount, Meta(description="What asking for it cost; null is unknown")] | None
    ) = None


class ReportedProblem(Body, frozen=True):
    """Why a trial has no output that counts."""

    cause: Annotated[
        Literal["task", "limit", "infra", "undecidable", "grader"],
        Meta(
            description="task: it crashed (failed); limit: it took too long (failed, unless it was "
            "scored); infra, undecidable, grader: no verdict (undecided)"
        ),
    ]
    reason: Annotated[str, Meta(min_length=1, max_length=10_000)]


class ReportedTokens(Body, frozen=True):
    """Model tokens; what is left out is unknown."""

    input: Count | None = None
    output: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    reasoning: Count | None = None


class ReportedRow(Body, frozen=True):
    """One trial of one case: what went in, what came out, what it was worth."""

    scores: Annotated[
        dict[str, ReportedScore | Value | None],
        Meta(
            description="By grader: a number, null, or an object. One that is left out is missing"
        ),
    ] = {}
    id: Annotated[Name, Meta(description="The case (default: found by the input)")] | None = None
    input: Annotated[Any, Meta(description="Needed for a case that is new")] | UnsetType = UNSET
    expected: Any = None
    tags: Annotated[list[Name], Meta(max_length=100)] = []
    split: Name | None = None
    condition: Annotated[Name, Meta(description="The variant of the case")] = "default"
    metadata: dict[str, Any] = {}
    arm: Annotated[Name, Meta(description="Default: the last arm")] | None = None
    trial: (
        Annotated[
            int,
            Meta(ge=1, le=1_000_000, description="Its number (default: the next of its row)"),
        ]
        | None
    ) = None
    output: Any = None
    problem: ReportedProblem | None = None
    started_at: Annotated[datetime, Meta(tz=True, description="Default: now")] | None = None
    duration_s: (
        Annotated[Amount, Meta(description="Seconds that the task took; null is unknown")] | None
    ) = None
    cost_usd: Annotated[Amount, Meta(description="Null is unknown")] | None = None
    tokens: ReportedTokens | None = None
    metrics: dict[str, Value] = {}
    spans: Annotated[list[dict[str, Any]], Meta(max_length=10_000)] = []


class RowBatch(Body, frozen=True):
    """Rows that are stored together, or not at all."""

    rows: Annotated[list[ReportedRow], Meta(min_length=1, max_length=1_000)]


class Finish(Body, frozen=True):
    """How an experiment ended."""

    status: Annotated[
        Literal["finished", "interrupted", "stopped"],
        Meta(description="finished: all that was planned is there; else it is a part"),
    ] = "finished"
    reason: Annotated[Text, Meta(description="Why it ended early")] | None = None


class NewScorers(Body, frozen=True):
    """Graders that score stored outputs later."""

    graders: Annotated[
        list[str | dict[str, Any]],
        Meta(
            min_length=1,
            max_length=20,
            description="Graders as in a spec. Those that run programs of the server's machine "
            "(command, python, verifier) are refused",
        ),
    ]
    name: Annotated[Name, Meta(description="Default: the experiment's")] | None = None
    concurrency: Annotated[int, Meta(ge=1, le=64)] = 4


class NewProject(Body, frozen=True):
    """A project."""

    name: Annotated[str, Meta(pattern=r"^(?!prj_|here$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$(?!\n)")]


class NewKey(Body, frozen=True):
    """A key."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    scope: Literal["read", "write"] = "read"
    project: (
        Annotated[
            Name, Meta(description="Only for this project: its id or name (default: for all)")
        ]
        | None
    ) = None


class NewBaseline(Body, frozen=True):
    """What a project's experiments are compared with."""

    experiment: Annotated[Name, Meta(description="Its id, a prefix or its name")]


class NewRules(Body, frozen=True):
    """Rules of a project's release gate."""

    rules: Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=100)]


class NewVersion(Body, frozen=True):
    """The cases of a new version of a dataset: all of them."""

    cases: Annotated[
        list[dict[str, Any]],
        Meta(
            min_length=1,
            max_length=100_000,
            description="Objects with `input`, and `id`, `expected`, `metadata`, `tags`, `split`, "
            "`condition` as wanted",
        ),
    ]


def body_of(kind: type[Any], data: bytes) -> Any:
    """Return the body that JSON text holds.

    Raises:
        msgspec.ValidationError: it does not fit.
        msgspec.DecodeError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    return msgspec.json.decode(data, type=kind)
