"""One request of an http task and its response, over a connection that is kept."""

from __future__ import annotations

import asyncio
import io
from dataclasses import dataclass, field

import aiohttp
from yarl import URL

import fairtrial
from fairtrial.model.errors import InfraError, TaskError, TrialTimeout
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.model.wording import over_limit
from fairtrial.tasks.http_answer import Response, problem_of, result_of
from fairtrial.tasks.request import RequestPlan

_MOST_REDIRECTS = 5
_CONNECT_LIMIT_S = 30.0
"""Seconds for name, connection and TLS, when there is no time limit either: a host that drops
packets never answers."""
_KEEP_ALIVE_S = 60.0
_KEPT_OF_AN_ERROR = 4096
"""Bytes read of a response that is no output: enough to show what it says."""
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(slots=True)
class HttpTask:
    """Sends a request for each case, over one session.

    Attributes:
        plan: What the requests have in common.
        proxy: The proxy they go through.
    """

    plan: RequestPlan
    proxy: str | None
    _session: aiohttp.ClientSession | None = field(default=None, init=False)

    async def open(self) -> None:
        """Open the session; connections come with the first requests."""
        agent = {"User-Agent": f"fairtrial/{fairtrial.__version__}"}
        self._session = aiohttp.ClientSession(
            # The run bounds the trials in flight; a bound here could only make calls wait in
            # secret, with their time limit running.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),  # a cookie would link one trial to another
            headers={**agent, **self.plan.content_type(), **self.plan.headers},
            timeout=aiohttp.ClientTimeout(total=None, connect=_CONNECT_LIMIT_S),
            auto_decompress=True,
        )

    async def run(self, call: TaskCall) -> TaskResult:
        """Send the request for one case and read the response."""
        scope = asyncio.timeout(call.time_limit_s)
        try:
            async with scope:
                response = await self._exchange(call)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            if scope.expired():
                raise TrialTimeout(over_limit(call.time_limit_s)) from None
            reason = self.plan.hide(f"{self.plan.shown}: {_detail(error)}")
            raise InfraError(reason, kind="network") from None
        problem = problem_of(response, self.plan.shown)
        if problem is not None:
            problem.args = (self.plan.hide(str(problem)),)
            raise problem
        try:
            return result_of(response, self.plan.pointer, envelope=self.plan.envelope)
        except TaskError as error:
            raise TaskError(self.plan.hide(str(error))) from None

    async def close(self) -> None:
        """Close the session and its connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(self, call: TaskCall) -> Response:
        if self._session is None:
            raise RuntimeError("the task is not open")
        plan = self.plan
        method, payload = plan.method, plan.payload(call)
        url = URL(plan.url)
        if plan.query:
            url = url.update_query(plan.params(call))
        for _ in range(_MOST_REDIRECTS + 1):
            async with self._session.request(
                method,
                url,
                data=_data(payload),
                allow_redirects=False,
                proxy=self.proxy,
                ssl=plan.verify,
            ) as answer:
                target = answer.headers.get("Location")
                if answer.status not in _REDIRECTS or target is None:
                    return await self._read(answer)
                url = self._redirected(url, target)
                if _becomes_get(answer.status, method):
                    method, payload = "GET", None
        raise TaskError(f"{plan.shown}: more than {_MOST_REDIRECTS} redirects")

    def _redirected(self, url: URL, location: str) -> URL:
        try:
            target = url.join(URL(location))
        except ValueError:
            raise TaskError(f"{self.plan.shown}: redirected to no URL") from None
        downgrade = url.scheme == "https" and target.scheme != "https"
        if target.host != url.host or downgrade:
            # Headers may hold a key, and the body a case: neither goes where nobody sent it.
            raise TaskError(
                f"{self.plan.shown}: redirected to {target.scheme}://{target.host or ''}, "
                "another place; name it in 'url' if that is meant"
            )
        return target

    async def _read(self, answer: aiohttp.ClientResponse) -> Response:
        most = self.plan.max_output if answer.ok else _KEPT_OF_AN_ERROR
        body = bytearray()
        async for chunk in answer.content.iter_any():
            body += chunk
            if len(body) > most:
                answer.close()
                break
        if answer.ok and len(body) > most:
            raise TaskError(f"more than {most:,} bytes in the response (option 'max_output')")
        return Response(
            status=answer.status,
            media_type=answer.content_type,
            charset=answer.charset,
            body=bytes(body),
            retry_after=answer.headers.get("Retry-After"),
            date=answer.headers.get("Date"),
        )


def _becomes_get(status: int, method: str) -> bool:
    # What every client does: the letter of RFC 9110 keeps the method of a 301 or 302.
    return method == "POST" if status in (301, 302) else status == 303 and method != "HEAD"


def _data(payload: bytes | None) -> bytes | io.BytesIO | None:
    # A large body as one piece would hold up the loop, so aiohttp wants it as a file.
    return payload if payload is None or len(payload) < 2**20 else io.BytesIO(payload)


def _detail(error: aiohttp.ClientError | OSError) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect: {error.os_error.strerror or error.os_error}"
    return f"{type(error).__name__}: {error}".removesuffix(": ")
