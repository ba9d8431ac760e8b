"""Options of `mcp`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Let a coding agent use fairtrial: an MCP server on standard input and output, or by HTTP.

    An agent starts it by itself, in the folder that it works in. Tools that only read answer at
    once; those that cost or write ask the person first, and are refused where nobody can be asked.
    `fairtrial serve` answers the same protocol at `/mcp`.
    """

    http: bool = option(default=False)
    """Answer by streamable HTTP, at /mcp, instead of on standard input and output"""
    host: str = option("127.0.0.1", metavar="HOST")
    """With --http: address to listen on. Beyond this machine every request needs a key; see
    `fairtrial key create`"""
    port: Annotated[int, Meta(ge=0, le=65535)] = option(7412, metavar="N")
    """With --http: port to listen on; 0 takes any that is free"""
    allow: tuple[str, ...] = option((), metavar="TOOL")
    """A tool that runs without asking, such as exp_run; by HTTP every program of this machine can
    then call it"""


EXAMPLES = (
    "fairtrial mcp",
    "fairtrial mcp --allow sessions_sync --allow exp_run",
    "fairtrial mcp --http --port 7412",
)
