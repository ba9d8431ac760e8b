"""Every task kind keeps the contract of tasks."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from fairtrial.ports import Surroundings, Task
from fairtrial.tasks.registry import build_task, task_spec
from fairtrial.testing.task import Behaviour, TaskContract
from fairtrial.workspaces.host.client import HostWorkspace

_PROGRAM = """
import json, os, sys, time
told = json.loads(sys.stdin.readline())
match sys.argv[1]:
    case "echo":
        print(json.dumps({"output": told["input"]}))
    case "reveal":
        print(json.dumps({"output": [told, dict(os.environ), sys.argv]}))
    case "fail":
        sys.exit("broken on purpose")
    case "linger":
        while True:
            with open(told["input"], "a") as beat:
                beat.write(".")
            time.sleep(0.005)
"""

_FUNCTIONS = """
import asyncio, time
async def echo(given):
    return given
async def reveal(given, call):
    return [given, repr(call)]
async def fail(given):
    raise ValueError("broken on purpose")
async def linger(given):
    while True:
        with open(given, "a") as beat:
            beat.write(".")
        await asyncio.sleep(0.005)
def blocking_echo(given):
    return given
def blocking_reveal(given, call):
    return [given, repr(call)]
def blocking_fail(given):
    raise ValueError("broken on purpose")
def blocking_linger(given):
    for _ in range(200):
        with open(given, "a") as beat:
            beat.write(".")
        time.sleep(0.01)
"""

_names = itertools.count()


@asynccontextmanager
async def _opened(spec: Mapping[str, object], folder: Path) -> AsyncIterator[Task]:
    workspace = HostWorkspace(slots=8)
    task = build_task(task_spec(spec, "spec"), Surroundings(folder, os.environ, workspace), "spec")
    try:
        await task.open()
        yield task
    finally:
        await task.close()
        await workspace.close()


class TestCommand(TaskContract):
    @asynccontextmanager
    async def task(self, behaviour: Behaviour, folder: Path) -> AsyncIterator[Task]:
        (folder / "program.py").write_text(_PROGRAM)
        argv = [sys.executable, "-S", "program.py", behaviour.value]
        spec = {"kind": "command", "command": argv, "envelope": True}
        async with _opened(spec, folder) as task:
            yield task


class TestShellCommand(TaskContract):
    @asynccontextmanager
    async def task(self, behaviour: Behaviour, folder: Path) -> AsyncIterator[Task]:
        (folder / "program.py").write_text(_PROGRAM)
        # A shell that forks, so that the program is a grandchild.
        command = f"{sys.executable} -S program.py {behaviour.value} || exit 3; true"
        spec = {"kind": "command", "command": command, "envelope": True}
        async with _opened(spec, folder) as task:
            yield task


class TestPython(TaskContract):
    prefix = ""

    @asynccontextmanager
    async def task(self, behaviour: Behaviour, folder: Path) -> AsyncIterator[Task]:
        module = f"conformance_functions_{next(_names)}"
        (folder / f"{module}.py").write_text(_FUNCTIONS)
        path = list(sys.path)
        spec = {"kind": "python", "function": f"{module}:{self.prefix}{behaviour.value}"}
        try:
            async with _opened(spec, folder) as task:
                yield task
        finally:
            sys.path[:] = path
            sys.modules.pop(module, None)


class TestBlockingPython(TestPython):
    prefix = "blocking_"
    can_stop = False


class TestHttp(TaskContract):
    envelope = False

    @asynccontextmanager
    async def task(self, behaviour: Behaviour, folder: Path) -> AsyncIterator[Task]:
        async with _served(behaviour, envelope=self.envelope) as url:
            spec = {"kind": "http", "url": url, "envelope": self.envelope}
            async with _opened(spec, folder) as task:
                yield task


class TestHttpEnvelope(TestHttp):
    envelope = True


class TestPrompt(TaskContract):
    @asynccontextmanager
    async def task(self, behaviour: Behaviour, folder: Path) -> AsyncIterator[Task]:
        async with _model(behaviour) as url:
            provider = {"kind": "openai", "api": "chat", "base_url": url, "stream": False}
            spec = {
                "kind": "prompt",
                "template": "{{ input | tojson }}",
                "provider": provider,
                "model": "m",
                "output": "json",
            }
            async with _opened(spec, folder) as task:
                yield task


@asynccontextmanager
async def _model(behaviour: Behaviour) -> AsyncIterator[str]:
    """Serve a model that answers with what it was asked."""

    async def answer(request: web.Request) -> web.Response:
        told = await request.json()
        words = told["messages"][-1]["content"]
        match behaviour:
            case Behaviour.FAIL:
                return web.json_response({"error": {"message": "broken on purpose"}}, status=422)
            case Behaviour.LINGER:
                await _linger(Path(json.loads(words)))
            case Behaviour.REVEAL:
                words = json.dumps([told, dict(request.headers), str(request.url)])
        message = {"role": "assistant", "content": words}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"id": "c", "model": "m", "choices": [choice], "usage": {}})

    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", answer)
    async with _running(app) as address:
        yield f"{address}v1"


@asynccontextmanager
async def _served(behaviour: Behaviour, *, envelope: bool) -> AsyncIterator[str]:
    async def answer(request: web.Request) -> web.Response:
        told = await request.json()
        given = told["input"] if envelope else told
        match behaviour:
            case Behaviour.FAIL:
                return web.Response(status=422, text="broken on purpose")
            case Behaviour.LINGER:
                await _linger(Path(given))
            case Behaviour.REVEAL:
                given = [told, dict(request.headers), str(request.url)]
        return web.json_response({"output": given} if envelope else given)

    app = web.Application()
    app.router.add_post("/", answer)
    async with _running(app) as address:
        yield address


@asynccontextmanager
async def _running(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def _linger(beat: Path) -> None:
    while True:
        with beat.open("a") as file:
            file.write(".")
        await asyncio.sleep(0.005)
