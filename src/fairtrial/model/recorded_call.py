"""A model call that a proxy saw."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.model.trial import TrialKey


@dataclass(frozen=True, slots=True)
class CallOwner:
    """The trial that made a call."""

    experiment_id: str
    key: TrialKey


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One request to a model API and what came back.

    Attributes:
        id: `call_` and a ULID.
        session: What the client calls its session; None when it does not say.
        number: From 1, its place among the calls of its session, or of its trial.
        api: The wire format (`anthropic-messages`, …); None for another path of the API.
        method: HTTP method.
        path: Path and query, without credentials.
        upstream: The base URL it went to.
        model: The model asked for; None when the request names none.
        status: HTTP status of the answer; None when none came.
        problem: Why it ended without a whole answer: `cancelled by the client`, `cut`, …
        streamed: The answer came as server-sent events.
        started_at: When the request came (UTC).
        first_byte_s: Seconds until the first byte of the answer's body; None when none came.
        duration_s: Seconds until its last byte.
        tokens: Usage that the answer reports; None when it reports none.
        cost_usd: What it costs by the price list; None is unknown.
        canonical: Hash of the request without what differs between two identical runs; what a
            replay looks for. None when it is no model request.
        served_from: Id of the recorded call whose answer was served again; None for a live one.
        owner: The trial that made it, in a run that records or replays.
        agent: `claude-code`, `codex`, or None.
    """

    id: str
    session: str | None
    number: int
    api: str | None
    method: str
    path: str
    upstream: str
    model: str | None
    status: int | None
    problem: str | None
    streamed: bool
    started_at: datetime
    first_byte_s: float | None
    duration_s: float
    tokens: Tokens | None = None
    cost_usd: float | None = None
    canonical: str | None = None
    served_from: str | None = None
    owner: CallOwner | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class CallBody:
    """The payloads of a recorded call, with credentials taken out.

    Attributes:
        request_headers: In the order they came.
        request: The request's body.
        response_headers: In the order they came; empty when no answer came.
        response: The answer's body, decoded from its transfer and content codings; for a stream
            the events as they came.
    """

    request_headers: tuple[tuple[str, str], ...] = ()
    request: bytes = field(default=b"", repr=False)
    response_headers: tuple[tuple[str, str], ...] = ()
    response: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class CallQuery:
    """Which recorded calls to return; None does not filter.

    Attributes:
        session: Of this session.
        experiment_id: Made by trials of this experiment.
        key: Made by this trial.
        model: Of this model.
        failed: Without a good answer (True), or with one (False).
        limit: How many at most.
        before: The id of the last call of the page before.
    """

    session: str | None = None
    experiment_id: str | None = None
    key: TrialKey | None = None
    model: str | None = None
    failed: bool | None = None
    limit: int = 50
    before: str | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """A model's answer that was kept.

    Attributes:
        key: Hash of the provider, the whole request and the draw.
        provider: The kind of provider.
        model: The model that answered.
        reply: The answer as JSON.
    """

    key: str
    provider: str
    model: str
    reply: Json
