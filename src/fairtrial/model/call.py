"""A model call: what a model is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from fairtrial.model.json import Json
from fairtrial.model.task import Tokens


class StopReason(StrEnum):
    """Why a model ended its answer."""

    END = "end"
    """It was done."""
    LENGTH = "length"
    """It reached the most tokens it may write; the answer is cut."""
    REFUSAL = "refusal"
    """It, or a filter before it, declined to answer."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["user", "assistant"]
    text: str


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
    """

    messages: tuple[Message, ...]
    model: str | None = None
    system: str | None = None
    max_tokens: int = 1024
    temperature: float | None = None
    response_schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered.

    Attributes:
        text: Its words; JSON as text when a schema was asked for.
        model: The model that answered, as the provider names it.
        stop: Why it ended.
        tokens: What it read and wrote.
        cost_usd: None is unknown, not zero.
    """

    text: str
    model: str
    stop: StopReason = StopReason.END
    tokens: Tokens = field(default_factory=Tokens)
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """A provider as the user wrote it: its kind and that kind's own options."""

    kind: str
    options: Mapping[str, Json] = field(default_factory=dict)

    def content(self) -> dict[str, Json]:
        """Return the spec as one JSON object."""
        return {"kind": self.kind, **self.options}
