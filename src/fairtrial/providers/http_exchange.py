"""One request to a model API and the answer to it, over connections that are kept."""

from __future__ import annotations

import asyncio
import difflib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import aiohttp
import msgspec
from yarl import URL

import fairtrial
from fairtrial.model.call import Api, ModelReply, StopReason
from fairtrial.model.errors import ProviderError
from fairtrial.model.json import Json
from fairtrial.providers.http_network import Limits, why
from fairtrial.providers.http_trouble import (
    Circumstances,
    is_refusal,
    trouble_of,
    unknown_model,
)
from fairtrial.wire.apis import read_reply, stream_reader
from fairtrial.wire.failures import ApiError, FailedAnswerError, MalformedAnswerError, read_error
from fairtrial.wire.json_text import NoJsonError, mappings, read_json
from fairtrial.wire.outbound import proxy_for

MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes an answer may have; no model writes a tenth of it."""
_MOST_OF_AN_ERROR: Final = 64 * 1024
_CONNECT_LIMIT_S: Final = 30.0
_LISTING_LIMIT_S: Final = 5.0
_LINGER_S: Final = 0.5
"""Seconds that a server has to end a stream whose last event came."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Post:
    """A request for an answer.

    Attributes:
        api: The wire format.
        url: Where it goes.
        models_url: Where the server lists its models.
        headers: All headers but those of every request.
        body: The body.
        about: What messages name.
    """

    api: Api
    url: str
    models_url: str
    headers: Mapping[str, str]
    body: Mapping[str, Json]
    about: Circumstances


class HttpExchange:
    """Sends requests over one session. `open` and `close` as for a provider."""

    def __init__(
        self,
        limits: Limits,
        environ: Mapping[str, str],
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        self._limits = limits
        self._environ = environ
        self._monotonic = monotonic
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Open the session; connections come with the first requests."""
        self._session = aiohttp.ClientSession(
            # Who makes the calls bounds them; a bound here would make them wait in secret.
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": f"fairtrial/{fairtrial.__version__}"},
        )

    async def close(self) -> None:
        """Close the session and its connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(self, post: Post) -> ModelReply:
        """Send a request and read its answer, as `Provider.complete` does."""
        if self._session is None:
            raise RuntimeError("the provider is not open")
        try:
            return await self._send(self._session, post)
        except aiohttp.ClientHttpProxyError as error:
            raise post.about.infra(
                f"the HTTP proxy does not let the call through: HTTP {error.status}"
                f" {error.message}; check HTTPS_PROXY and HTTP_PROXY",
                "login" if error.status == 407 else "network",
            ) from None
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            raise post.about.infra(why(error, post.about, self._limits), "network") from None
        except MalformedAnswerError as error:
            raise post.about.infra(
                f"the answer of {post.about.address} cannot be read: {error}; try again, and check"
                " that 'base_url' is a model API",
                "server",
            ) from None
        except FailedAnswerError as error:
            if is_refusal(error.error):
                return _refusal(error.error, post)
            raise trouble_of(error.error, None, {}, post.about) from None

    async def _send(self, session: aiohttp.ClientSession, post: Post) -> ModelReply:
        streamed = post.body.get("stream") is True
        timeout = aiohttp.ClientTimeout(
            total=self._limits.whole_s,
            sock_connect=_CONNECT_LIMIT_S,
            sock_read=self._limits.idle_s if streamed else None,
        )
        started = self._now()
        async with session.post(
            post.url,
            data=_payload(post),
            headers={"Content-Type": "application/json", **post.headers},
            allow_redirects=False,  # a key goes only where the user sent it
            proxy=self._proxy(post.url),
            timeout=timeout,
        ) as answer:
            if answer.status >= 300:
                return await self._trouble(session, answer, post)
            if answer.content_type == "text/event-stream":
                return await self._stream(answer, post, started)
            body = await _read(answer, post)
        if not body.strip():
            raise MalformedAnswerError("it is empty")
        return read_reply(post.api, body)

    async def _stream(
        self, answer: aiohttp.ClientResponse, post: Post, started: float
    ) -> ModelReply:
        reader = stream_reader(post.api)
        first_token_s: float | None = None
        size = 0
        async for chunk in answer.content.iter_any():
            size += len(chunk)
            if size > MOST_BYTES:
                answer.close()
                raise _too_large(post)
            reader.feed(chunk)
            if first_token_s is None and reader.started:
                first_token_s = self._now() - started
            if reader.ended:
                break
        if not size:
            raise MalformedAnswerError("it is empty")
        if reader.ended:
            await _read_out(answer)
        reader.finish()
        if not reader.whole:
            raise post.about.infra(
                f"the stream of {post.about.address} ended in the middle of the answer; try again",
                "network",
            )
        return replace(reader.reply(), first_token_s=first_token_s)

    async def _trouble(
        self, session: aiohttp.ClientSession, answer: aiohttp.ClientResponse, post: Post
    ) -> ModelReply:
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > _MOST_OF_AN_ERROR:
                answer.close()
                break
        error = read_error(bytes(body))
        if answer.status == 400 and is_refusal(error):
            return _refusal(error, post)
        if answer.status == 404 and post.about.model:
            names = await self._models(session, post)
            if names is not None and post.about.model not in names:
                raise unknown_model(
                    post.about, f"HTTP 404: {error.message}", _nearest(post.about.model, names)
                )
            if "model" in error.message.lower() or "model_not_found" in error.names:
                raise unknown_model(post.about, f"HTTP 404: {error.message}", None)
        raise trouble_of(error, answer.status, answer.headers, post.about)

    async def _models(self, session: aiohttp.ClientSession, post: Post) -> list[str] | None:
        """Return the names of the server's models; None when it does not list them."""
        try:
            async with session.get(
                post.models_url,
                headers=post.headers,
                allow_redirects=False,
                proxy=self._proxy(post.models_url),
                timeout=aiohttp.ClientTimeout(total=_LISTING_LIMIT_S),
            ) as answer:
                if answer.status != 200:
                    return None
                document = read_json(await _read(answer, post))
        except (aiohttp.ClientError, OSError, NoJsonError, ProviderError):
            return None
        listed = mappings(document.get("data") if isinstance(document, dict) else None)
        return [str(model["id"]) for model in listed if model.get("id")] or None

    def _proxy(self, url: str) -> str | None:
        return None if URL(url).host in _LOOPBACK else proxy_for(url, self._environ)

    def _now(self) -> float:
        return (self._monotonic or asyncio.get_running_loop().time)()


async def _read_out(answer: aiohttp.ClientResponse) -> None:
    """Read what follows an answer, so that its connection can be used again."""
    try:
        async with asyncio.timeout(_LINGER_S):
            async for _ in answer.content.iter_any():
                pass
    except (aiohttp.ClientError, OSError):
        answer.close()


async def _read(answer: aiohttp.ClientResponse, post: Post) -> bytes:
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > MOST_BYTES:
            answer.close()
            raise _too_large(post)
    return bytes(body)


def _too_large(post: Post) -> ProviderError:
    limit = f"{MOST_BYTES // 2**20} MiB"
    return post.about.refused(f"the answer of {post.about.address} is over {limit}: is it a model?")


def _refusal(error: ApiError, post: Post) -> ModelReply:
    return ModelReply(error.message, post.about.model, StopReason.REFUSAL)


def _nearest(name: str, names: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.3)), None)


def _payload(post: Post) -> bytes | io.BytesIO:
    try:
        data = msgspec.json.encode(post.body)
    except UnicodeEncodeError:
        data = json.dumps(post.body).encode()  # half a surrogate pair, as an escape
    except (TypeError, ValueError, RecursionError) as error:
        raise post.about.refused(f"the request is no JSON: {error}") from None
    # A large body as one piece would hold up the loop, so aiohttp wants it as a file.
    return data if len(data) < 2**20 else io.BytesIO(data)
