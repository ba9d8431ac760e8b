"""Options of `proxy`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from fairtrial.schema.fields import option


@dataclass(frozen=True, slots=True)
class Request:
    """Record the model calls of any program: a proxy for the Anthropic and OpenAI APIs.

    Point a program at it with the variables that it prints, or let it run one command with them:
    `fairtrial proxy -- COMMAND` ends with that command's exit status. Answers stream through as
    they come. Keys and cookies go on to the API and are never written down.
    """

    command: tuple[str, ...] = option((), positional=True, metavar="COMMAND")
    """Command to run with its calls going through the proxy, after `--`"""
    port: Annotated[int, Meta(ge=0, le=65535)] = option(0, metavar="N")
    """Port to listen on; 0 takes any that is free"""
    host: str = option("127.0.0.1", metavar="HOST")
    """Address to listen on. Beyond this machine anybody who reaches it can use it, with a key of
    their own"""
    anthropic_upstream: str | None = option(None, metavar="URL")
    """Where Anthropic calls go (default: ANTHROPIC_BASE_URL, else the public API)"""
    openai_upstream: str | None = option(None, metavar="URL")
    """Where OpenAI calls go, with its `/v1` (default: OPENAI_BASE_URL, else the public API)"""
    quiet: bool = option(default=False)
    """Print no line for each call"""


EXAMPLES = (
    "fairtrial proxy",
    "fairtrial proxy -- claude -p 'Fix the failing test'",
    "fairtrial proxy --port 8787 --openai-upstream http://127.0.0.1:11434/v1",
)
