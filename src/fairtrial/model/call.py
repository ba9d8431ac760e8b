"""A model call: what a model is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens


class Api(StrEnum):
    """A wire format that models are called by."""

    ANTHROPIC_MESSAGES = "anthropic-messages"
    """`POST /v1/messages`"""
    OPENAI_RESPONSES = "openai-responses"
    """`POST /v1/responses`"""
    OPENAI_CHAT = "openai-chat"
    """`POST /v1/chat/completions`; what compatible servers speak"""


class StopReason(StrEnum):
    """Why a model ended its answer."""

    END = "end"
    """It was done, or wrote a stop sequence."""
    TOOL_USE = "tool_use"
    """It asks for tools to be run."""
    LENGTH = "length"
    """It reached the most tokens it may write, or its context window; the answer is cut."""
    REFUSAL = "refusal"
    """It, or a filter before it, declined to answer."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may ask for. fairtrial never runs one.

    Attributes:
        name: What the model calls it.
        description: What it does.
        input_schema: JSON Schema of its arguments.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Json] = field(default_factory=lambda: {"type": "object"})


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A model asks for a tool.

    Attributes:
        id: Ties the result to it.
        name: The tool.
        input: Its arguments; a text that is no JSON object is kept as the text.
    """

    id: str
    name: str
    input: Json


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    tool_use_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation: words, and tools asked for (assistant) or answered (user)."""

    role: Literal["user", "assistant"]
    text: str = ""
    tool_uses: tuple[ToolUse, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What a model is asked.

    Attributes:
        messages: The conversation; the last turn is the user's.
        model: The model's name; None is the provider's own choice.
        system: The instructions above the conversation.
        max_tokens: The most tokens it may answer with.
        temperature: How freely it draws; None is the provider's own choice.
        response_schema: JSON Schema that the answer's text is to satisfy; a provider that can,
            enforces it, and no caller relies on it.
        tools: What it may ask for.
        params: Further fields of the request's body, as the API names them; they win over what
            the other attributes say.
        draw: Which draw of the same question this is; answers are kept apart by it.
        base_url: Where the call goes instead of the provider's own address: a recording proxy.
    """

    messages: tuple[Message, ...]
    model: str | None = None
    system: str | None = None
    max_tokens: int = 1024
    temperature: float | None = None
    response_schema: Mapping[str, Json] | None = None
    tools: tuple[Tool, ...] = ()
    params: Mapping[str, Json] = field(default_factory=dict)
    draw: int = 0
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class WireCall:
    """A request in an API's own words: recorded once, sent as it stands or with fields changed.

    Attributes:
        api: The API it belongs to.
        body: The request's body.
        headers: Headers that change the answer (`anthropic-version`, `anthropic-beta`); never a
            credential.
        draw: As of `ModelCall`.
        base_url: As of `ModelCall`.
    """

    api: Api
    body: Mapping[str, Json]
    headers: Mapping[str, str] = field(default_factory=dict)
    draw: int = 0
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered.

    Attributes:
        text: Its words; JSON as text when a schema was asked for.
        model: The model that answered, as the provider names it.
        stop: Why it ended.
        tokens: What it read and wrote.
        cost_usd: None is unknown, not zero. On a subscription: what the API would have charged.
        tool_uses: The tools it asks for, in its order.
        cached: It was kept from an earlier call; `tokens` and `cost_usd` are those of that call.
        first_token_s: Seconds until the first words or tool came; None when not streamed or kept.
    """

    text: str
    model: str
    stop: StopReason = StopReason.END
    tokens: Tokens = field(default_factory=Tokens)
    cost_usd: float | None = None
    tool_uses: tuple[ToolUse, ...] = ()
    cached: bool = False
    first_token_s: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """A provider as the user wrote it: its kind and that kind's own options."""

    kind: str
    options: Mapping[str, Json] = field(default_factory=dict)

    def content(self) -> dict[str, Json]:
        """Return the spec as one JSON object."""
        return {"kind": self.kind, **self.options}
