"""Both CLIs are held to the contract of a provider, with programs that stand in for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import pytest
from tests.providers.subscription.lab import Lab
from tests.providers.subscription.test_claude_result import failed as claude_failed
from tests.providers.subscription.test_claude_result import printed as claude_printed
from tests.providers.subscription.test_codex_events import USAGE, item
from tests.providers.subscription.test_codex_events import failed as codex_failed
from tests.providers.subscription.test_codex_events import printed as codex_printed

from fairtrial.model.call import Api, WireCall
from fairtrial.ports import Provider
from fairtrial.testing.provider import ProviderContract

T = TypeVar("T")
REFUSED = "Connection failed: error sending request"


class CliContract(ProviderContract):
    kind: str
    wire: WireCall
    answer: str
    trouble: str

    @pytest.fixture(autouse=True)
    def _lab(self, lab: Lab) -> None:
        self.lab = lab
        self.lab.log_in(self.kind)
        self.answers = self.lab.printing(self.answer)
        self.fails = self.lab.printing(self.trouble, status=1)

    def provider(self) -> Provider:
        return self.lab.provider(self.kind, self.answers)

    def unreachable(self) -> Provider:
        return self.lab.provider(self.kind, self.fails)

    def wire_calls(self) -> Sequence[WireCall]:
        return (self.wire,)

    def session(self, provider: Provider, work: Callable[[Provider], Awaitable[T]]) -> T:
        return self.lab.session(provider, work)


class TestClaudeCode(CliContract):
    kind = "claude-code"
    wire = WireCall(Api.ANTHROPIC_MESSAGES, {"messages": [{"role": "user", "content": "Hello"}]})
    answer = claude_printed()
    trouble = claude_failed(REFUSED)


class TestCodex(CliContract):
    kind = "codex"
    wire = WireCall(Api.OPENAI_RESPONSES, {"input": "Hello"})
    answer = codex_printed(
        item("agent_message", text="Hello!"), {"type": "turn.completed", "usage": USAGE}
    )
    trouble = codex_failed(REFUSED)
