"""The server: its thread, its routes and what it remembers."""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

import zstandard
from aiohttp import web

from fairtrial.model.call import Api
from fairtrial.model.json import Json
from fairtrial.testing.model_server import anthropic_messages, openai_responses
from fairtrial.testing.model_server.delivery import deliver
from fairtrial.testing.model_server.script import Script, ScriptedAnswer, ScriptedRequest

PATIENCE_S: Final = 30.0
_APIS: Final = {
    "/messages": Api.ANTHROPIC_MESSAGES,
    "/responses": Api.OPENAI_RESPONSES,
    "/chat/completions": Api.OPENAI_CHAT,
}
_CREDENTIALS: Final = ("authorization", "x-api-key", "api-key", "cookie", "proxy-authorization")
_MOST_BYTES: Final = 2**28
_ANY_ZLIB: Final = 32 + zlib.MAX_WBITS
_HELLO: Final = (ScriptedAnswer(),)


class ModelServer:
    """Answers model requests on the loopback interface from a script.

    Attributes:
        requests: What came so far, also what is no request for a model's answer.
        gone: How many clients left before their answer was whole.
    """

    def __init__(
        self,
        script: Script = _HELLO,
        *,
        models: Sequence[str] = ("scripted-1",),
        strict: bool = False,
        api_key: str | None = None,
    ) -> None:
        """Prepare a server; the context starts it.

        Args:
            script: What answers.
            models: What `/v1/models` lists.
            strict: Answer 404 for a model that is not listed.
            api_key: Answer 401 without this key.
        """
        self.requests: list[ScriptedRequest] = []
        self.gone = 0
        self._script = script
        self._models = tuple(models)
        self._strict = strict
        self._api_key = api_key
        self._asked = 0
        self._port = 0
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._main, name="model-server", daemon=True)

    @property
    def url(self) -> str:
        """The address without a path: `ANTHROPIC_BASE_URL`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def v1_url(self) -> str:
        """The address with `/v1`: `OPENAI_BASE_URL`."""
        return f"{self.url}/v1"

    @property
    def calls(self) -> list[ScriptedRequest]:
        """The requests for a model's answer, in the order they came."""
        return [request for request in self.requests if request.api is not None]

    def wait_until(self, condition: Callable[[ModelServer], bool]) -> None:
        """Wait until something holds of the server.

        Raises:
            TimeoutError: it does not within 30 seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self), PATIENCE_S):
                raise TimeoutError(f"not within {PATIENCE_S:g} s")

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(PATIENCE_S)
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._ended is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(PATIENCE_S)
        if self._failure is not None and error is None:
            raise self._failure

    def _main(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001  # raised again in the thread of the test
            self._failure = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=_MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self._answer)
        # A client that leaves cancels its handler; at the end nobody waits for one that hangs.
        runner = web.AppRunner(
            app,
            shutdown_timeout=0.05,
            handler_cancellation=True,
            access_log=None,
            auto_decompress=False,  # aiohttp undoes no zstd by itself, and Codex sends it
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._port = runner.addresses[0][1]
            self._started.set()
            await self._ended.wait()
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        known, path = _known_key(request), request.path.rstrip("/")
        api = next((api for end, api in _APIS.items() if path.endswith(end)), None)
        seen = ScriptedRequest(
            request.method,
            request.path_qs,
            _headers(request),
            await _body(request),
            api if request.method == "POST" else None,
            self._asked,
            _port(request),
        )
        with self._changed:
            self.requests.append(seen)
            self._changed.notify_all()
        if self._api_key is not None and known != self._api_key:
            return _error(api, 401, "invalid x-api-key or bearer token")
        if seen.api is None:
            return self._other(request.method, path, seen)
        self._asked += 1
        if self._strict and seen.model not in self._models:
            return _error(api, 404, f"model: {seen.model}")
        try:
            return await deliver(request, seen, self._scripted(seen))
        except (asyncio.CancelledError, ConnectionError):
            with self._changed:
                self.gone += 1
                self._changed.notify_all()
            raise

    def _scripted(self, seen: ScriptedRequest) -> ScriptedAnswer:
        if callable(self._script):
            try:
                return self._script(seen)
            except Exception as error:
                self._failure = error
                raise
        return self._script[min(seen.number, len(self._script) - 1)]

    def _other(self, method: str, path: str, seen: ScriptedRequest) -> web.Response:
        if path.endswith("/models") and method == "GET":
            listed = [
                {"id": name, "object": "model", "type": "model", "display_name": name}
                | {"created": 1_700_000_000, "created_at": "2023-11-14T22:13:20Z"}
                | {"owned_by": "fairtrial"}
                for name in self._models
            ]
            page = {"object": "list", "data": listed, "has_more": False}
            return web.json_response({**page, "first_id": None, "last_id": None, "models": []})
        if path.endswith("/messages/count_tokens") and method == "POST":
            return web.json_response({"input_tokens": len(seen.text.split())})
        if path.endswith("/responses") and method == "GET":
            # A client that asks for a WebSocket falls back to POST.
            return _error(Api.OPENAI_RESPONSES, 426, "this server speaks no WebSocket")
        if method == "HEAD":
            return web.Response()
        return _error(None, 404, "no such path")


def _error(api: Api | None, status: int, message: str) -> web.Response:
    answer = ScriptedAnswer(error=message)
    writer = openai_responses if api in (Api.OPENAI_CHAT, Api.OPENAI_RESPONSES) else None
    body = (writer or anthropic_messages).error(answer, status)
    return web.json_response(body, status=status)


def _known_key(request: web.Request) -> str | None:
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return request.headers.get("x-api-key") or bearer or None


def _port(request: web.Request) -> int:
    peer = request.get_extra_info("peername")
    return int(peer[1]) if peer else 0


def _headers(request: web.Request) -> Mapping[str, str]:
    return {
        name.lower(): "present" if name.lower() in _CREDENTIALS else value
        for name, value in request.headers.items()
    }


async def _body(request: web.Request) -> Json:
    raw = await request.read()
    coding = request.headers.get("Content-Encoding", "").lower()
    if coding == "zstd":
        raw = zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    elif coding in ("gzip", "deflate"):
        raw = zlib.decompress(raw, _ANY_ZLIB)
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
