"""Keeps what a model answered: the same question is never asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from fairtrial.model.call import ModelCall, ModelReply, WireCall
from fairtrial.model.errors import StoreError
from fairtrial.model.json import Json, content_hash
from fairtrial.model.recorded_call import KeptAnswer
from fairtrial.ports import AnswerCache, Clock, Provider

VERSION = 1
"""A part of every key: a new one forgets what earlier ones kept."""


@dataclass
class _Turn:
    """Calls of one key wait for each other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class CachingProvider(Provider):
    """A provider that asks another one only what it was not asked before.

    Every answer is kept, also a refusal and one that was cut; a failure never is. Identical calls
    that meet are made once. A call that goes to an address of its own, such as a recording proxy,
    is always made and never kept. A store that fails costs no answer: it is asked for, and not
    kept.
    """

    def __init__(self, kind: str, inner: Provider, answers: AnswerCache, clock: Clock) -> None:
        """Wrap a provider.

        Args:
            kind: Its kind.
            inner: The provider.
            answers: Where answers are kept.
            clock: When one was kept.
        """
        self._kind = kind
        self._inner = inner
        self._answers = answers
        self._clock = clock
        self._turns: dict[str, _Turn] = {}

    @property
    def identity(self) -> Json:
        """See `Provider.identity`."""
        return self._inner.identity

    async def open(self) -> None:
        """See `Provider.open`."""
        await self._inner.open()

    async def close(self) -> None:
        """See `Provider.close`."""
        await self._inner.close()

    async def complete(self, call: ModelCall) -> ModelReply:
        """See `Provider.complete`."""
        if call.base_url is not None:
            return await self._inner.complete(call)
        return await self._answered(call, lambda: self._inner.complete(call))

    async def send(self, call: WireCall) -> ModelReply:
        """See `Provider.send`."""
        if call.base_url is not None:
            return await self._inner.send(call)
        return await self._answered(call, lambda: self._inner.send(call))

    async def _answered(
        self, call: ModelCall | WireCall, ask: Callable[[], Awaitable[ModelReply]]
    ) -> ModelReply:
        key = self._key(call)
        async with self._turn(key):
            kept = await asyncio.to_thread(self._kept, key)
            if kept is not None:
                return kept
            reply = await ask()
            answer = KeptAnswer(key, self._kind, reply.model, msgspec.to_builtins(reply))
            await asyncio.to_thread(self._keep, answer)
            return reply

    def _key(self, call: ModelCall | WireCall) -> str:
        return content_hash(
            {
                "version": VERSION,
                "provider": self._inner.identity,
                "call": type(call).__name__,
                "asked": msgspec.to_builtins(call, enc_hook=_plain),
            }
        )

    @asynccontextmanager
    async def _turn(self, key: str) -> AsyncIterator[None]:
        turn = self._turns.setdefault(key, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                del self._turns[key]

    def _kept(self, key: str) -> ModelReply | None:
        try:
            found = self._answers.get(key)
            reply = None if found is None else msgspec.convert(found.reply, ModelReply)
        except (StoreError, msgspec.ValidationError):
            return None
        return None if reply is None else replace(reply, cached=True, first_token_s=None)

    def _keep(self, answer: KeptAnswer) -> None:
        try:
            self._answers.keep(answer, self._clock.now())
        except StoreError:
            return


def _plain(value: Any) -> Json:
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(type(value))
