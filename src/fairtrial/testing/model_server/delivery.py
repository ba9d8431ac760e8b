"""How an answer goes out, whole or with a fault."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Final

from aiohttp import web
from aiohttp.web_response import ContentCoding

from fairtrial.model.call import Api
from fairtrial.model.json import Json
from fairtrial.testing.model_server import anthropic_messages, openai_chat, openai_responses
from fairtrial.testing.model_server.events import DONE, Event
from fairtrial.testing.model_server.script import Fault, ScriptedAnswer, ScriptedRequest

_FOREVER_S: Final = 3600.0
_BEFORE_A_FAULT: Final = 4
"""Events that come before a stream breaks."""


async def deliver(
    request: web.Request, seen: ScriptedRequest, answer: ScriptedAnswer
) -> web.StreamResponse:
    """Send an answer and return what was sent."""
    if answer.fault is Fault.HANG:
        await asyncio.sleep(_FOREVER_S)
    if answer.fault is Fault.SLOW_FIRST_BYTE:
        await asyncio.sleep(answer.slow_s)
    headers = {"request-id": f"req_scripted{seen.number:04}", **answer.headers}
    if answer.body is not None or answer.fault is Fault.EMPTY:
        return _whole(answer, answer.body or b"", headers)
    if not 200 <= answer.status < 300:
        return _whole(answer, json.dumps(_error(seen, answer)).encode(), headers)
    if seen.streamed:
        return await _stream(request, seen, answer, headers)
    body = json.dumps(_body(seen, answer), ensure_ascii=False).encode()
    if answer.fault is Fault.INVALID_JSON:
        body = body[: len(body) // 2] + b"!"
    if answer.fault is Fault.ERROR_EVENT:
        failed = json.dumps(_error(seen, answer)).encode()
        return web.Response(
            body=failed, status=500, content_type="application/json", headers=headers
        )
    if answer.fault is Fault.CUT_STREAM:
        return await _cut(request, body, headers)
    return _whole(answer, body, headers)


def _whole(answer: ScriptedAnswer, body: bytes, headers: dict[str, str]) -> web.Response:
    headers = {"Content-Type": "application/json", **headers}
    response = web.Response(body=body, status=answer.status, headers=headers)
    _compress(response, answer)
    return response


async def _cut(request: web.Request, body: bytes, headers: dict[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))})
    response.content_type = "application/json"
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _break(request)
    return response


async def _stream(
    request: web.Request, seen: ScriptedRequest, answer: ScriptedAnswer, headers: dict[str, str]
) -> web.StreamResponse:
    response = web.StreamResponse(
        status=answer.status, headers={"Cache-Control": "no-cache", **headers}
    )
    response.content_type = "text/event-stream"
    _compress(response, answer)
    await response.prepare(request)
    events = _events(seen, answer)
    done = seen.api is Api.OPENAI_CHAT
    if answer.fault in (None, Fault.HUGE, Fault.SLOW_FIRST_BYTE):
        for event in events:
            await response.write(event.written())
            if answer.chunk_delay_s:
                await asyncio.sleep(answer.chunk_delay_s)
        if done:
            await response.write(DONE)
        await response.write_eof()
        return response
    return await _broken(request, response, seen, answer)


async def _broken(
    request: web.Request,
    response: web.StreamResponse,
    seen: ScriptedRequest,
    answer: ScriptedAnswer,
) -> web.StreamResponse:
    events = list(_events(seen, answer))
    kept = events[:-2] if answer.fault is Fault.NO_END else events[:_BEFORE_A_FAULT]
    for event in kept:
        await response.write(event.written())
        if answer.chunk_delay_s:
            await asyncio.sleep(answer.chunk_delay_s)
    if answer.fault is Fault.HANG_MIDWAY:
        await asyncio.sleep(_FOREVER_S)
    if answer.fault is Fault.CUT_STREAM:
        await asyncio.sleep(0)
        _break(request)
        return response
    if answer.fault is Fault.INVALID_JSON:
        name = kept[-1].name
        head = f"event: {name}\n" if name else ""
        await response.write(f'{head}data: {{"type": "broken\n\n'.encode())
    if answer.fault is Fault.ERROR_EVENT:
        await response.write(_error_event(seen, answer).written())
    await response.write_eof()
    return response


def _break(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()  # after what was written, and without the end of the body


def _compress(response: web.StreamResponse, answer: ScriptedAnswer) -> None:
    if answer.encoding is not None:
        response.enable_compression(ContentCoding(answer.encoding))


def _body(seen: ScriptedRequest, answer: ScriptedAnswer) -> Json:
    if seen.api is Api.ANTHROPIC_MESSAGES:
        return anthropic_messages.message(seen, answer)
    if seen.api is Api.OPENAI_RESPONSES:
        return openai_responses.response(seen, answer)
    return openai_chat.completion(seen, answer)


def _events(seen: ScriptedRequest, answer: ScriptedAnswer) -> Iterator[Event]:
    if seen.api is Api.ANTHROPIC_MESSAGES:
        return anthropic_messages.events(seen, answer)
    if seen.api is Api.OPENAI_RESPONSES:
        return openai_responses.events(seen, answer)
    return openai_chat.chunks(seen, answer)


def _error(seen: ScriptedRequest, answer: ScriptedAnswer) -> Json:
    status = 500 if answer.status < 400 else answer.status
    if seen.api is Api.ANTHROPIC_MESSAGES:
        return anthropic_messages.error(answer, status)
    return openai_responses.error(answer, status)


def _error_event(seen: ScriptedRequest, answer: ScriptedAnswer) -> Event:
    if seen.api is Api.ANTHROPIC_MESSAGES:
        return anthropic_messages.error_event(answer)
    if seen.api is Api.OPENAI_RESPONSES:
        return openai_responses.error_event(seen, answer)
    return openai_chat.error_event(answer)
