"""What a run tells while it runs; progress, status and stop rules all read these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fairtrial.model.experiment import Experiment, Status
from fairtrial.model.recorded_call import RecordedCall
from fairtrial.model.trial import Trial, TrialKey


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The experiment is open in the store.

    Attributes:
        experiment: What is about to run.
        done: Trials that were on record already and are kept.
        planned: All trials of the plan, the kept ones included.
    """

    experiment: Experiment
    done: int
    planned: int


@dataclass(frozen=True, slots=True)
class TrialRecorded:
    """A trial is in the store; the death of this process can no longer lose it."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class TrialRetried:
    """A try met an infrastructure problem and will be made again.

    Attributes:
        key: The trial.
        tries: How many tries it has had.
        reason: What went wrong.
        wait_s: Seconds until the next try.
    """

    key: TrialKey
    tries: int
    reason: str
    wait_s: float


@dataclass(frozen=True, slots=True)
class RunDraining:
    """No new trial starts; those in flight are finished.

    Attributes:
        reason: What asked for it.
        in_flight: How many are still running.
    """

    reason: str
    in_flight: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The experiment is closed for now.

    Attributes:
        status: How it ended.
        reason: Why, when it is not finished.
    """

    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was decided that the user left open, e.g. which provider runs a model.

    Attributes:
        text: One line that says what, and why.
    """

    text: str


@dataclass(frozen=True, slots=True)
class JudgingStarted:
    """Outputs, or pairs of them, are about to be judged outside of a run.

    Attributes:
        name: Who judges.
        planned: How many will be.
    """

    name: str
    planned: int


@dataclass(frozen=True, slots=True)
class Judged:
    """One output, or pair of outputs, was judged, or could not be.

    Attributes:
        cost_usd: What that cost; None when unknown.
    """

    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class ProxyStarted:
    """The proxy listens.

    Attributes:
        session: The session of calls whose client names none.
        url: Where it listens.
        variables: What sends a program's calls through it.
        anthropic: Where calls of the Anthropic API go.
        openai: Where calls of the OpenAI API go.
        exposed: Other machines can reach it.
    """

    session: str
    url: str
    variables: Mapping[str, str]
    anthropic: str
    openai: str
    exposed: bool


@dataclass(frozen=True, slots=True)
class CallRecorded:
    """A model call that went through the proxy is in the store."""

    call: RecordedCall


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A request was not passed on.

    Attributes:
        path: What it asked for.
        status: The HTTP status it got.
        reason: Why.
    """

    path: str
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class ServerStarted:
    """The server listens.

    Attributes:
        url: Where it listens.
        exposed: Other machines can reach it, so each request needs a key.
    """

    url: str
    exposed: bool


@dataclass(frozen=True, slots=True)
class SessionsReceived:
    """Sessions that programs told of by OpenTelemetry are in the store.

    Attributes:
        sessions: Ids of those that are new or changed.
    """

    sessions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilesRead:
    """Files of sessions were read.

    Attributes:
        done: How many so far.
        planned: How many there are to read.
    """

    done: int
    planned: int


Event: TypeAlias = (
    RunStarted
    | TrialRecorded
    | TrialRetried
    | RunDraining
    | RunEnded
    | Noted
    | JudgingStarted
    | Judged
    | ProxyStarted
    | CallRecorded
    | RequestRefused
    | ServerStarted
    | SessionsReceived
    | FilesRead
)
