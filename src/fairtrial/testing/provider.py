"""The contract of a provider, as tests."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import pytest

from fairtrial.model.call import Api, Message, ModelCall, ModelReply, StopReason, Tool, WireCall
from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.model.json import canonical_json
from fairtrial.ports import Provider

T = TypeVar("T")

PATIENCE_S = 30.0


def greeting(number: int = 0) -> ModelCall:
    """Return a call that any model can answer."""
    return ModelCall((Message("user", f"Say hello, please. ({number})"),), max_tokens=64)


LOOK = Tool(
    "look",
    "Looks the weather up.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def check_reply(reply: ModelReply) -> None:
    """Check what holds of every reply.

    Raises:
        AssertionError: something does not.
    """
    assert reply.model.strip()
    assert reply.stop in StopReason
    tokens = reply.tokens
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.reasoning)
    assert all(count is None or count >= 0 for count in counts)
    if tokens.reasoning is not None:
        assert tokens.output is not None, "reasoning is a part of what was written"
        assert tokens.reasoning <= tokens.output
    assert reply.cost_usd is None or reply.cost_usd >= 0
    assert reply.first_token_s is None or reply.first_token_s >= 0
    canonical_json([use.input for use in reply.tool_uses])
    reply.text.encode()


class ProviderContract(ABC):
    """Subclass it in a test module, name the class `Test…`, and implement the two methods.

    What a provider can do beyond them, the other methods tell.
    """

    @abstractmethod
    def provider(self) -> Provider:
        """Return a provider, not yet open, that answers a `greeting`."""

    @abstractmethod
    def unreachable(self) -> Provider:
        """Return one whose first call fails because the world does."""

    def offered_tools(self) -> Provider | None:
        """Return one that asks for the tool `look`; None when its models are offered no tools."""
        return None

    def wire_calls(self) -> Sequence[WireCall]:
        """Return a request for each API that it sends."""
        return ()

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
        check_reply(reply)

    def test_a_tool_is_asked_for_by_name_with_arguments(self) -> None:
        provider = self.offered_tools()
        if provider is None:
            return
        call = ModelCall((Message("user", "Weather in Bern?"),), max_tokens=64, tools=(LOOK,))
        reply = self.session(provider, lambda it: it.complete(call))
        check_reply(reply)
        assert reply.stop is StopReason.TOOL_USE
        assert [use.name for use in reply.tool_uses] == ["look"]
        assert isinstance(reply.tool_uses[0].input, dict)
        assert reply.tool_uses[0].id

    def test_a_request_in_an_apis_own_words_is_sent_or_refused(self) -> None:
        sent = {call.api: call for call in self.wire_calls()}
        for api in Api:
            if api in sent:
                reply = self._send(sent[api])
                check_reply(reply)
                assert reply.text.strip()
            else:
                with pytest.raises(ProviderError):
                    self._send(WireCall(api, {}))

    def _send(self, call: WireCall) -> ModelReply:
        async def send(provider: Provider) -> ModelReply:
            return await provider.send(call)

        return self.session(self.provider(), send)

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
