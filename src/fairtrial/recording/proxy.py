"""The recording proxy: it listens, assigns calls to trials, and ends in good order."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import Callable, Mapping, Sequence

from fairtrial.model.errors import UsageError
from fairtrial.model.recorded_call import CallOwner, RecordedCall
from fairtrial.ports import Clock
from fairtrial.recording.answers import Refusal
from fairtrial.recording.call_log import CallLog
from fairtrial.recording.client_side import ClientConnection
from fairtrial.recording.log_process import ProcessLog
from fairtrial.recording.routing import OWNED, Upstreams
from fairtrial.recording.turns import AnswerFrom, Shared

TRIAL_OVER = "the trial was over"
PROXY_ENDED = "the proxy was stopped"
_BACKLOG = 1024


def ignore_refusal(_path: str, _refusal: Refusal) -> None:
    """Take a refusal and do nothing."""


class RecordingProxy:
    """Passes calls of the Anthropic and OpenAI APIs on, and records each.

    Every byte goes on as it comes; what is recorded is worked out afterwards, by the log.
    """

    def __init__(
        self,
        upstreams: Upstreams,
        log: CallLog | ProcessLog,
        clock: Clock,
        *,
        answer_from: AnswerFrom | None = None,
        refused: Callable[[str, Refusal], None] = ignore_refusal,
    ) -> None:
        """Make a proxy that does not listen yet.

        Args:
            upstreams: Where calls go.
            log: What records them; whoever made it closes it, after the proxy.
            clock: Time.
            answer_from: Asked for every call of a trial, with the trial's token and the request,
                once the request is whole: a recorded answer is served instead of asking upstream.
            refused: Takes the path of each request that is not passed on, and why.
        """
        self._upstreams = upstreams
        self._log = log
        self._clock = clock
        self._answer_from = answer_from
        self._refused = refused
        self._server: asyncio.Server | None = None
        self._shared: Shared | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen.

        Raises:
            UsageError: the host or the port cannot be had.
        """
        origins = (self._upstreams.anthropic, self._upstreams.openai)
        tls = ssl.create_default_context() if any(origin.tls for origin in origins) else None
        shared = Shared(
            upstreams=self._upstreams,
            bound=host,
            clock=self._clock,
            tls=tls,
            describe=self._log.describe,
            record=self._log.put,
            refused=self._refused,
            answer_from=self._answer_from,
        )
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: ClientConnection(shared), host, port, backlog=_BACKLOG
            )
        except OSError as error:
            raise UsageError(
                f"the proxy cannot listen on {host} port {port}",
                why=error.strerror or str(error),
                fix="choose another port, or leave --port out to get a free one",
            ) from error
        self._shared = shared

    @property
    def port(self) -> int:
        """The port it listens on."""
        if self._server is None:
            raise RuntimeError("the proxy has not been started")
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def environ(self, token: str | None = None, host: str = "127.0.0.1") -> Mapping[str, str]:
        """Return the variables that send a program's calls through the proxy.

        Args:
            token: Names the trial that the calls belong to; None belongs to no trial.
            host: How the program reaches this machine.
        """
        name = f"[{host}]" if ":" in host else host
        base = f"http://{name}:{self.port}" + (f"{OWNED}{token}" if token else "")
        return {"ANTHROPIC_BASE_URL": base, "OPENAI_BASE_URL": f"{base}/v1"}

    def assign(self, owner: CallOwner, session: str | None = None) -> str:
        """Return a token: calls whose path starts with `/t/TOKEN` belong to that trial.

        Args:
            owner: The trial.
            session: The session of its calls whose client names none.
        """
        token = secrets.token_urlsafe(12)
        self._log.own(token, owner, session)
        self._started.tokens.add(token)
        return token

    async def release(self, token: str) -> Sequence[RecordedCall]:
        """End what a trial still asks for, and return its calls, all of them stored.

        Raises:
            StoreError: they could not be stored.
        """
        shared = self._started
        shared.tokens.discard(token)
        for connection in [one for one in shared.connections if one.calls_as(token)]:
            connection.end(TRIAL_OVER)
        await asyncio.to_thread(self._log.flush)
        return self._log.disown(token)

    def drain(self) -> int:
        """Listen no more and let clients go that ask nothing; return how many calls are left."""
        if self._server is not None:
            self._server.close()
        for connection in list(self._started.connections):
            connection.close_idle()
        return self.busy

    async def stop(self) -> None:
        """Listen no more, end what is under way, and write everything down.

        Raises:
            StoreError: something could not be stored.
        """
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._started.connections):
            connection.end(PROXY_ENDED)
        await self._server.wait_closed()
        self._server = None
        await asyncio.to_thread(self._log.flush)

    @property
    def busy(self) -> int:
        """How many calls are under way."""
        return sum(connection.busy for connection in self._started.connections)

    @property
    def _started(self) -> Shared:
        if self._shared is None:
            raise RuntimeError("the proxy has not been started")
        return self._shared
