"""Models: who calls them, what they cost, what is kept of their calls."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from fairtrial.model.call import ModelCall, ModelReply, WireCall
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import CallBody, CallQuery, KeptAnswer, RecordedCall
from fairtrial.model.task import Tokens
from fairtrial.model.trial import TrialKey
from fairtrial.query.expression import Expression


class Provider(Protocol):
    """Calls a model. `open` and `close` as for a task; many calls are made at once."""

    @property
    def identity(self) -> Json:
        """All of it that can change an answer: the ground of what is kept of its answers."""
        ...

    async def open(self) -> None:
        """Acquire what all calls share."""
        ...

    async def complete(self, call: ModelCall) -> ModelReply:
        """Call the model once; trying again is the caller's business.

        Raises:
            InfraError: the world failed (network, 429, 5xx, a refused login).
            ProviderError: the provider refused this call, and would again.
        """
        ...

    async def send(self, call: WireCall) -> ModelReply:
        """Send a request in the API's own words, as `complete` does.

        Raises:
            InfraError: the world failed.
            ProviderError: the provider refused it, or does not speak that API.
        """
        ...

    async def close(self) -> None:
        """Release what `open` acquired."""
        ...


class Prices(Protocol):
    """What models cost."""

    def cost_usd(self, model: str, tokens: Tokens) -> float | None:
        """Return what a call costs in US dollars; None when the model or a count is unknown."""
        ...

    def knows(self, model: str) -> bool:
        """Return whether a model has a price."""
        ...


class AnswerCache(Protocol):
    """Keeps model answers by the hash of the whole question."""

    def get(self, key: str) -> KeptAnswer | None:
        """Return the answer kept under a key, and note that it was used."""
        ...

    def keep(self, answer: KeptAnswer, now: datetime) -> None:
        """Keep an answer; one under the same key stays as it was."""
        ...

    def prune(
        self, now: datetime, older_than_s: float | None, largest_bytes: int | None
    ) -> tuple[int, int]:
        """Forget answers unused for so long, then the longest unused ones beyond a total size.

        Returns:
            How many were forgotten, and their bytes.
        """
        ...

    def size(self) -> tuple[int, int]:
        """Return how many answers there are, and their bytes."""
        ...


class CallStore(Protocol):
    """Keeps the model calls that a proxy saw."""

    def add(self, calls: Sequence[tuple[RecordedCall, CallBody]]) -> None:
        """Store calls in one transaction; a call's number is given by whoever recorded it."""
        ...

    def find(self, ref: str) -> RecordedCall:
        """Return the call that an id, a unique prefix (6+ characters), or `SESSION#N` names.

        SESSION is an id, a unique prefix of one, or `latest`; N counts from 1, or back from -1.

        Raises:
            NotFoundError: there is none, or the prefix fits several.
        """
        ...

    def body(self, call_id: str) -> CallBody:
        """Return a call's payloads.

        Raises:
            NotFoundError: there is no such call.
        """
        ...

    def newest(self, query: CallQuery, where: Expression | None = None) -> Sequence[RecordedCall]:
        """Return calls, newest first; with `where`, only those that this filter fits."""
        ...

    def of_trial(self, experiment_id: str, key: TrialKey) -> Sequence[RecordedCall]:
        """Return the calls of one trial in their order."""
        ...

    def prune(
        self, now: datetime, older_than_s: float, *, recordings: bool = False, others: bool = True
    ) -> tuple[int, int]:
        """Forget calls that began so long ago, with their payloads.

        Those that belong to a trial are kept, unless `recordings` says otherwise: a replay may
        still want them.

        Returns:
            How many were forgotten, and the bytes that this set free.
        """
        ...

    def next_number(self, session: str) -> int:
        """Return the number of a session's next call, from 1."""
        ...
