"""What `calls list` says, and a call as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from fairtrial.app.reports.informing import Informing
from fairtrial.interchange.experiment_exports.export import timestamp
from fairtrial.model.json import Json
from fairtrial.model.recorded_call import RecordedCall


def call_json(call: RecordedCall) -> dict[str, Json]:
    """Return a call without its payloads."""
    owner = call.owner
    return {
        "id": call.id,
        "session": call.session,
        "number": call.number,
        "agent": call.agent,
        "api": call.api,
        "method": call.method,
        "path": call.path,
        "upstream": call.upstream,
        "model": call.model,
        "status": call.status,
        "problem": call.problem,
        "streamed": call.streamed,
        "started_at": timestamp(call.started_at),
        "first_byte_s": call.first_byte_s,
        "duration_s": call.duration_s,
        "tokens": None if call.tokens is None else asdict(call.tokens),
        "cost_usd": call.cost_usd,
        "canonical": call.canonical,
        "served_from": call.served_from,
        "trial": None
        if owner is None
        else {"experiment": owner.experiment_id, **owner.key._asdict()},
    }


@dataclass(frozen=True, slots=True)
class CallsReport(Informing):
    """A page of calls.

    Attributes:
        calls: Newest first.
        more: Whether there are older ones.
        where: The filter that chose them, if one did.
    """

    schema: ClassVar[str] = "fairtrial.calls/1"

    calls: Sequence[RecordedCall]
    more: bool
    where: str | None = None

    def json(self) -> dict[str, Json]:
        """Return the page; `next` is what `--before` takes for the one after it."""
        return {
            "schema": self.schema,
            "calls": [call_json(call) for call in self.calls],
            "next": self.calls[-1].id if self.more else None,
        }
