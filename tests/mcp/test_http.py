"""Streamable HTTP: at `/mcp` of `serve`, and by itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.http.conftest import Server, running
from tests.mcp.conftest import ERAS, Person, error_of, report_of, talk

from fairtrial.app.bench import Bench
from fairtrial.app.key_create import key_create
from fairtrial.app.projects import HERE
from fairtrial.app.requests.key_create import Request as KeyRequest


@asynccontextmanager
async def over_http(
    url: str, key: str | None = None, person: Person | None = None, era: Any = "auto"
) -> AsyncIterator[Client]:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(url, http_client=http),
            mode=era,
            elicitation_callback=person,
        ) as client,
    ):
        yield client


@pytest.fixture
def server(bench: Bench) -> Iterator[Server]:
    with running(bench) as server:
        yield server


@pytest.mark.parametrize("era", ERAS)
def test_with_a_key_that_may_write_the_person_is_asked(
    era: str, server: Server, cases: str
) -> None:
    person = Person()
    key = server.key("agent", "write")

    async def conversation() -> None:
        async with over_http(f"{server.url}/mcp", key, person, era) as client:
            arguments: dict[str, Any] = {"name": "n", "files": [cases]}
            report_of(await client.call_tool("dataset_add", arguments))
            run = {"dataset": "n", "task": {"kind": "command", "command": "cat"}}
            done = await client.call_tool("exp_run", {**run, "graders": [{"kind": "exact"}]})
            link = done.structured_content["links"][0]
            assert link["page"] == f"{server.url}/experiments/{report_of(done)['id']}"

    talk(conversation())
    assert len(person.asked) == 2


@pytest.mark.parametrize("era", ERAS)
def test_without_a_key_it_only_reads(era: str, server: Server, cases: str) -> None:
    person = Person()

    async def conversation() -> None:
        async with over_http(f"{server.url}/mcp", None, person, era) as client:
            assert report_of(await client.call_tool("exp_list"))["experiments"] == []
            done = await client.call_tool("dataset_add", {"name": "n", "files": [cases]})
            assert "a key that may write is needed" in error_of(done)["why"]
            arguments = {"spec": "/etc/any.json", "dry_run": True}
            done = await client.call_tool("exp_run", arguments)
            assert "a key that may write is needed" in error_of(done)["why"]

    talk(conversation())
    assert person.asked == []


def test_no_key_lets_another_machine_run_programs(bench: Bench, cases: str) -> None:
    async def conversation(url: str, key: str) -> None:
        async with over_http(f"{url}/mcp", key, Person()) as client:
            arguments: dict[str, Any] = {"name": "n", "files": [cases]}
            report_of(await client.call_tool("dataset_add", arguments))
            run = {"dataset": "n", "task": {"kind": "command", "command": "cat"}}
            done = await client.call_tool("exp_run", {**run, "graders": [{"kind": "exact"}]})
            assert "not run for agents of other machines" in error_of(done)["why"]

    with running(bench, host="0.0.0.0") as server:  # noqa: S104  # reached by loopback here
        talk(conversation(server.url, server.key("agent", "write")))


def test_a_key_of_one_project_does_not_reach_the_whole_store(bench: Bench) -> None:
    key = key_create(bench, KeyRequest("one", "write", project=HERE)).token
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    with running(bench) as server:
        assert server.ask("/mcp", "POST", body, headers).status == 403
    with by_itself() as url, httpx2.Client() as client:
        assert client.post(url, content=body, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Authorization": "Bearer nonsense"}, 401),
        ({"Content-Type": "text/plain"}, 403),
    ],
)
def test_pages_of_other_sites_and_wrong_keys_are_refused(
    server: Server, headers: dict[str, str], status: int
) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    given = {"Content-Type": "application/json", "Accept": "application/json", **headers}
    assert server.ask("/mcp", "POST", body, given).status == status


def test_an_empty_key_is_none(server: Server) -> None:
    async def conversation() -> None:
        headers = {"Authorization": ""}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(
                streamable_http_client(f"{server.url}/mcp", http_client=http),
                elicitation_callback=Person(),
            ) as client,
        ):
            done = await client.call_tool("dataset_add", {"name": "n", "sessions": ["latest"]})
            assert "a key that may write is needed" in error_of(done)["why"]

    talk(conversation())


def test_stopping_the_server_does_not_wait_for_agents(bench: Bench) -> None:
    async def conversation(server: Server) -> None:
        # The client keeps a stream open for what the server may tell it.
        async with over_http(f"{server.url}/mcp", era="legacy") as client:
            await client.call_tool("exp_list")
            await asyncio.to_thread(server.stop)

    with running(bench) as server:
        with contextlib.suppress(Exception):  # whatever the client says when its server is gone
            talk(conversation(server))
        assert server.report is not None
        assert server.report.requests > 1


@contextmanager
def by_itself(*options: str) -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "fairtrial", "mcp", "--http", "--port", "0", "--json", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        try:
            assert started["schema"] == "fairtrial.mcp_started/1"
            yield started["url"]
        finally:
            process.terminate()
            *_, last = process.stdout.read().splitlines()
            assert json.loads(last)["schema"] == "fairtrial.mcp/1"
            assert process.wait(30) == 0


def test_it_serves_by_itself_and_links_to_the_pages_of_serve(server: Server, cases: str) -> None:
    async def conversation() -> None:
        with by_itself("--allow", "dataset_add", "--allow", "exp_run") as url:
            async with over_http(url) as client:
                arguments: dict[str, Any] = {"name": "n", "files": [cases]}
                report_of(await client.call_tool("dataset_add", arguments))
                run = {"dataset": "n", "task": {"kind": "command", "command": "cat"}}
                done = await client.call_tool("exp_run", {**run, "graders": [{"kind": "exact"}]})
                assert done.structured_content["links"][0]["page"].startswith(server.url)

    talk(conversation())
