"""Options of `serve`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Serve the API on this machine, and receive sessions by OpenTelemetry.

    The API is under `/v2/`, described by `/v2/openapi.json`. What programs and agents send to
    `/v1/traces` and `/v1/logs` becomes sessions. Ctrl-C ends it.
    """

    host: str = option("127.0.0.1", metavar="HOST")
    """Address to listen on. Beyond this machine every request needs a key; see `fairtrial key
    create`"""
    port: Annotated[int, Meta(ge=0, le=65535)] = option(7411, metavar="N")
    """Port to listen on; 0 takes any that is free"""
    open: bool = option(default=False)
    """Open the address in a browser"""
    receive: bool = option(default=True)
    """Receive sessions by OpenTelemetry"""
    quiet: bool = option(default=False)
    """Print no line for each session that comes in and each request that is refused"""


EXAMPLES = (
    "fairtrial serve",
    "fairtrial serve --port 8080 --open",
    "fairtrial serve --host 0.0.0.0 --no-receive",
)
