"""The contract of a provider, as tests."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from fairtrial.model.call import Message, ModelCall, StopReason
from fairtrial.model.errors import InfraError
from fairtrial.model.json import canonical_json
from fairtrial.ports import Provider

T = TypeVar("T")

PATIENCE_S = 30.0


def greeting(number: int = 0) -> ModelCall:
    """Return a call that any model can answer."""
    return ModelCall((Message("user", f"Say hello, please. ({number})"),), max_tokens=64)


class ProviderContract(ABC):
    """Subclass it in a test module, name the class `Test…`, and implement the two methods."""

    @abstractmethod
    def provider(self) -> Provider:
        """Return a provider, not yet open, that answers a `greeting`."""

    @abstractmethod
    def unreachable(self) -> Provider:
        """Return one whose first call fails because the world does."""

    def session(self, provider: Provider, work: Callable[[Provider], Awaitable[T]]) -> T:
        """Open a provider, work with it, and close it."""

        async def run() -> T:
            try:
                await provider.open()
                return await work(provider)
            finally:
                await provider.close()

        return asyncio.run(run())

    def test_an_answer_has_words_a_model_and_sane_counts(self) -> None:
        reply = self.session(self.provider(), lambda it: it.complete(greeting()))
        assert reply.text.strip()
        assert reply.model.strip()
        assert reply.stop in StopReason
        tokens = reply.tokens
        counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
        assert all(count is None or count >= 0 for count in counts)
        assert reply.cost_usd is None or reply.cost_usd >= 0

    def test_many_calls_are_made_at_once(self) -> None:
        async def many(provider: Provider) -> list[str]:
            calls = (provider.complete(greeting(number)) for number in range(20))
            return [reply.text for reply in await asyncio.gather(*calls)]

        assert all(self.session(self.provider(), many))

    def test_a_cancelled_call_does_no_harm_to_the_next(self) -> None:
        async def cancelled_then_called(provider: Provider) -> str:
            task = asyncio.ensure_future(provider.complete(greeting()))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_S)
            assert task.done()
            return (await provider.complete(greeting())).text

        assert self.session(self.provider(), cancelled_then_called)

    def test_trouble_of_the_world_is_an_infra_error(self) -> None:
        with pytest.raises(InfraError) as caught:
            self.session(self.unreachable(), lambda it: it.complete(greeting()))
        assert caught.value.kind in InfraError.KINDS
        assert str(caught.value)

    def test_its_identity_is_json_and_the_same_for_the_same_options(self) -> None:
        first, second = self.provider().identity, self.provider().identity
        assert canonical_json(first) == canonical_json(second)

    def test_closing_is_safe_at_any_time(self) -> None:
        async def close_twice(provider: Provider) -> None:
            await provider.close()
            await provider.close()

        asyncio.run(close_twice(self.provider()))
