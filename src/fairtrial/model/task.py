"""What turns a case into an output, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fairtrial.model.case import Case
from fairtrial.model.json import Json


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task as the user wrote it: its kind and that kind's own options."""

    kind: str
    options: Mapping[str, Json] = field(default_factory=dict)

    def content(self) -> dict[str, Json]:
        """Return the spec as one JSON object; the ground of its hash."""
        return {"kind": self.kind, **self.options}


@dataclass(frozen=True, slots=True)
class EarlierAttempt:
    """What an earlier attempt of the same trial gave, and what was said of it.

    Attributes:
        output: Its output.
        feedback: Never holds what was expected.
    """

    output: Json
    feedback: str


@dataclass(frozen=True, slots=True)
class TaskCall:
    """One request to a task: run this case.

    Attributes:
        case: The case; a task never sees `expected`.
        arm: The arm's name.
        trial: 1 for the first trial of the case, then 2, 3, …
        attempt: 1, unless sequential attempts are on.
        seed: A seed of this trial's own, the same on every re-run.
        time_limit_s: Seconds the task may take; None for no limit.
        environ: Variables that this trial's programs and model calls see over the usual ones, e.g.
            the address of the recording proxy.
        earlier: The failed attempts before this one, the oldest first; only the last one when the
            history is cut. Empty for the first attempt.
    """

    case: Case
    arm: str
    trial: int
    attempt: int
    seed: int
    time_limit_s: float | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    earlier: tuple[EarlierAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Model tokens, as reported; None is unknown, not zero.

    Attributes:
        input: Read and not from a cache; what the cache served or took in is not in it.
        output: Written, reasoning included.
        cache_read: Read from the provider's prompt cache.
        cache_write: Read and put into that cache.
        reasoning: The part of `output` that was thought and not said.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    @property
    def total(self) -> int | None:
        """All tokens that are known; None when none is."""
        known = (self.input, self.output, self.cache_read, self.cache_write)
        if all(count is None for count in known):
            return None
        return sum(count for count in known if count is not None)


@dataclass(frozen=True, slots=True)
class Reused:
    """Model answers that a trial did not ask for again: kept ones, or recorded ones.

    They are in neither the trial's tokens nor its cost.

    Attributes:
        source: `cache` or `recording`.
        calls: How many.
        tokens: What these calls had read and written.
        cost_usd: What they had cost: what was saved. None is unknown.
    """

    source: str
    calls: int
    tokens: Tokens | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What a process and the descendants it waited for used.

    Attributes:
        exit_status: Its exit status; None when a signal ended it.
        signal: The number of the signal that ended it, else None.
        cpu_s: User and system time in seconds.
        max_rss_bytes: The largest resident set of any one of them.
        stderr_tail: The last 4 KiB of standard error, decoded.
    """

    exit_status: int | None
    signal: int | None
    cpu_s: float
    max_rss_bytes: int
    stderr_tail: str = ""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one call of a task brought.

    Attributes:
        output: Any JSON value; what graders look at.
        error: Set when the task failed after all: the reason. The output so far is kept.
        timed_out: The failure was the time limit.
        cost_usd: What the call cost, if the task said so.
        tokens: Model tokens, if the task said so.
        metrics: Named numbers the task reported.
        spans: Steps the task reported, as JSON objects.
        process: Set by tasks that run a program.
        reused: Set when model answers were served again instead of asked for.
        note: What is unusual about the output; told beside the reason when it does not pass.
    """

    output: Json
    error: str | None = None
    timed_out: bool = False
    cost_usd: float | None = None
    tokens: Tokens | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    spans: tuple[Mapping[str, Json], ...] = ()
    process: ProcessUsage | None = None
    reused: Reused | None = None
    note: str | None = None
