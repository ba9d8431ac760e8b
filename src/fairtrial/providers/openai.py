"""GPT models by OpenAI's APIs, and every server that speaks one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from fairtrial.model.call import Api, ModelCall
from fairtrial.model.json import Json
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.choice import GPT_MODEL
from fairtrial.providers.http_options import HttpOptions, Service, target_of
from fairtrial.wire import openai_chat, openai_responses

SERVICE: Final = Service(
    kind="openai",
    official="https://api.openai.com/v1",
    hosts=("api.openai.com",),
    base_variable="OPENAI_BASE_URL",
    key_variable="OPENAI_API_KEY",
    sign=lambda key: {"Authorization": f"Bearer {key}"},
    root="/v1",
    model=GPT_MODEL,
)


@dataclass(frozen=True)
class Options(HttpOptions):
    """Options of the `openai` provider."""

    api: Literal["responses", "chat"] | None = None
    """`responses` or `chat` (default: `responses` at the official address, else `chat`, which
    every compatible server speaks)."""


def build(options: Options, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider.

    Raises:
        UsageError: an address or a header cannot be used.
    """
    # Slow to import (0.25 s): only who calls a model pays for it.
    from fairtrial.providers.http_provider import Dialect, HttpProvider  # noqa: PLC0415

    target = target_of(SERVICE, options, surroundings, where)
    chosen = options.api or ("responses" if target.official else "chat")
    # Compatible servers know the limit of an answer by its older name.
    limit_name = "max_completion_tokens" if target.official else "max_tokens"

    def responses(call: ModelCall, model: str, stream: bool) -> dict[str, Json]:  # noqa: FBT001
        return openai_responses.request_body(call, model, stream=stream)

    def chat(call: ModelCall, model: str, stream: bool) -> dict[str, Json]:  # noqa: FBT001
        return openai_chat.request_body(call, model, stream=stream, limit_name=limit_name)

    dialect = Dialect(
        Api.OPENAI_RESPONSES if chosen == "responses" else Api.OPENAI_CHAT,
        {Api.OPENAI_RESPONSES: responses, Api.OPENAI_CHAT: chat},
        {},
        "/models",
    )
    return HttpProvider(options, target, dialect, surroundings)
