"""The official client, and a real server process to talk to."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from fairtrial.app.bench import Bench, bench_here

ERAS = ("auto", "legacy")
"""How a client begins: the newest protocol, or the handshake of those before."""
PATIENCE_S = 60


@dataclass
class Person:
    """Who is asked, and answers always the same."""

    action: Any = "accept"
    yes: bool = True
    asked: list[str] = field(default_factory=list)

    async def __call__(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        del context
        self.asked.append(params.message)
        content: dict[str, Any] | None = {"yes": self.yes} if self.action == "accept" else None
        return types.ElicitResult(action=self.action, content=content)


@asynccontextmanager
async def over_stdio(
    *options: str, person: Person | None = None, era: Any = "auto"
) -> AsyncIterator[Client]:
    """Yield a client of a server that is a process of its own, in the current folder."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "fairtrial", "mcp", *options],
        cwd=Path.cwd(),
        env=dict(os.environ),
    )
    async with Client(
        stdio_client(server),
        mode=era,
        elicitation_callback=person,
        read_timeout_seconds=PATIENCE_S,
    ) as client:
        yield client


def talk(conversation: Coroutine[Any, Any, None]) -> None:
    """Have a conversation, and give up when it takes for ever."""
    asyncio.run(asyncio.wait_for(conversation, PATIENCE_S))


def text_of(result: types.CallToolResult) -> str:
    (first, *_) = result.content
    assert isinstance(first, types.TextContent)
    return first.text


def report_of(result: types.CallToolResult) -> Any:
    """Return the report that a tool answers with."""
    assert result.is_error is False, text_of(result)
    return result.structured_content["report"]


def error_of(result: types.CallToolResult) -> Any:
    assert result.is_error is True, text_of(result)
    return result.structured_content["error"]


@pytest.fixture
def bench(folder: Path) -> Iterator[Bench]:
    """A bench over the store that the server uses, too."""
    del folder
    with closing(bench_here()) as bench:
        yield bench


@pytest.fixture
def cases(folder: Path) -> str:
    """A file of six cases."""
    lines = [json.dumps({"id": f"c{n}", "input": str(n), "expected": f"{n}"}) for n in range(6)]
    (folder / "cases.jsonl").write_text("\n".join(lines))
    return "cases.jsonl"
