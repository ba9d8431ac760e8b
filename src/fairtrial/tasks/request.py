"""What the requests of an http task have in common, and what one of them carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall
from fairtrial.tasks.envelope import json_bytes, request_envelope
from fairtrial.tasks.template import Fill, as_text


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The requests of an http task.

    Attributes:
        shown: Method and URL as the user wrote them, for messages.
        method: The method, in capitals.
        url: Where they go.
        headers: Their headers.
        query: Templates of their query parameters.
        body: Template of their body; None when they have none, or an envelope.
        pointer: Where the output is in the response; None takes the whole response.
        envelope: Whether request and response are envelopes.
        verify: Whether certificates are checked.
        max_output: Bytes a response may have.
        secrets: What must not be shown, with the name of the variable it came from.
    """

    shown: str
    method: str
    url: str
    headers: Mapping[str, str]
    query: Mapping[str, Fill]
    body: Fill | None
    pointer: tuple[str, ...] | None
    envelope: bool
    verify: bool
    max_output: int
    secrets: Mapping[str, str]

    def params(self, call: TaskCall) -> dict[str, str]:
        """Return the query parameters for a call."""
        return {name: as_text(fill(call)) for name, fill in self.query.items()}

    def payload(self, call: TaskCall) -> bytes | None:
        """Return the body for a call.

        It is JSON, unless the headers name another content type: then a text goes out as it is.
        """
        if self.envelope:
            return json_bytes(request_envelope(call))
        if self.body is None:
            return None
        value: Json = self.body(call)
        if isinstance(value, str) and not self._sends_json():
            return value.encode()
        return json_bytes(value)

    def content_type(self) -> dict[str, str]:
        """Return the header that tells of a JSON body, if the user gave none."""
        bodiless = self.body is None and not self.envelope
        given = any(name.lower() == "content-type" for name in self.headers)
        return {} if bodiless or given else {"Content-Type": "application/json"}

    def hide(self, text: str) -> str:
        """Return a text with every secret replaced by the name of its variable."""
        for secret, name in self.secrets.items():
            text = text.replace(secret, f"${{{name}}}")
        return text

    def _sends_json(self) -> bool:
        types = [value for name, value in self.headers.items() if name.lower() == "content-type"]
        return not types or "json" in types[0].lower()
