"""Every kind of provider passes the same contract."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from fairtrial.model.call import Api, ToolUse, WireCall
from fairtrial.model.json import Json
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import PROVIDERS, build_provider, provider_spec
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer, ScriptedRequest
from fairtrial.testing.provider import LOOK, ProviderContract
from fairtrial.workspaces.host.client import HostWorkspace

ELSEWHERE = {"claude-code", "codex"}
"""They call programs that the user installs; see `tests/providers/subscription`."""


def built(kind: str, **options: object) -> Provider:
    spec = provider_spec({"kind": kind, **options}, "test")
    surroundings = Surroundings(Path.cwd(), os.environ, HostWorkspace(slots=1))
    return build_provider(spec, surroundings, "test")


class TestFake(ProviderContract):
    def provider(self) -> Provider:
        return built("fake", rules=[{"match": "hello", "reply": "Hello!"}], cost_usd=0.01)

    def unreachable(self) -> Provider:
        return built("fake", fail_first=1, fail_as="network")


def script(request: ScriptedRequest) -> ScriptedAnswer:
    if LOOK.name in request.tool_names:
        return ScriptedAnswer("", (ToolUse("call_1", LOOK.name, {"city": "Bern"}),))
    return ScriptedAnswer("Hello!")


class HttpContract(ProviderContract):
    OPTIONS: ClassVar[dict[str, Any]]

    @pytest.fixture(autouse=True)
    def _serve(self) -> Iterator[None]:
        with ModelServer(script) as server:
            self.server = server
            yield

    def provider(self) -> Provider:
        return built(**self.OPTIONS, base_url=self.server.url, model="scripted-1")

    def unreachable(self) -> Provider:
        return built(**self.OPTIONS, base_url="http://127.0.0.1:9", model="scripted-1")

    def offered_tools(self) -> Provider:
        return self.provider()


class TestAnthropic(HttpContract):
    OPTIONS: ClassVar = {"kind": "anthropic"}

    def wire_calls(self) -> Sequence[WireCall]:
        return (WireCall(Api.ANTHROPIC_MESSAGES, body("messages")),)


class TestAnthropicInOnePiece(TestAnthropic):
    OPTIONS: ClassVar = {"kind": "anthropic", "stream": False}


class TestOpenAiChat(HttpContract):
    OPTIONS: ClassVar = {"kind": "openai"}

    def wire_calls(self) -> Sequence[WireCall]:
        return (
            WireCall(Api.OPENAI_CHAT, {**body("messages"), "stream": True}),
            WireCall(Api.OPENAI_RESPONSES, body("input")),
        )


class TestOpenAiResponses(TestOpenAiChat):
    OPTIONS: ClassVar = {"kind": "openai", "api": "responses"}


class TestOpenAiResponsesInOnePiece(TestOpenAiChat):
    OPTIONS: ClassVar = {"kind": "openai", "api": "responses", "stream": False}


def body(turns: str) -> dict[str, Json]:
    return {
        "model": "scripted-1",
        "max_tokens": 9,
        turns: [{"role": "user", "content": "Say hello."}],
    }


def test_every_kind_is_held_to_it() -> None:
    assert set(PROVIDERS.modules) - ELSEWHERE == {"fake", "anthropic", "openai"}
