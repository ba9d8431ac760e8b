"""Claude models by Anthropic's Messages API, and servers that speak it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fairtrial.model.call import Api, ModelCall
from fairtrial.model.json import Json
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.choice import CLAUDE_MODEL
from fairtrial.providers.http_options import HttpOptions, Service, target_of
from fairtrial.wire import anthropic_messages

SERVICE: Final = Service(
    kind="anthropic",
    official="https://api.anthropic.com",
    hosts=("api.anthropic.com",),
    base_variable="ANTHROPIC_BASE_URL",
    key_variable="ANTHROPIC_API_KEY",
    sign=lambda key: {"x-api-key": key},
    root="",
    model=CLAUDE_MODEL,
)


@dataclass(frozen=True)
class Options(HttpOptions):
    """Options of the `anthropic` provider."""


def build(options: Options, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider.

    Raises:
        UsageError: an address or a header cannot be used.
    """
    # Slow to import (0.25 s): only who calls a model pays for it.
    from fairtrial.providers.http_provider import Dialect, HttpProvider  # noqa: PLC0415

    dialect = Dialect(
        Api.ANTHROPIC_MESSAGES,
        {Api.ANTHROPIC_MESSAGES: _body},
        {"anthropic-version": anthropic_messages.VERSION},
        "/v1/models?limit=1000",
    )
    return HttpProvider(
        options, target_of(SERVICE, options, surroundings, where), dialect, surroundings
    )


def _body(call: ModelCall, model: str, stream: bool) -> dict[str, Json]:  # noqa: FBT001
    return anthropic_messages.request_body(call, model, stream=stream)
