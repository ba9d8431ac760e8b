"""Calls of HTTP providers against the scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fairtrial.model.call import Message, ModelCall, ModelReply, WireCall
from fairtrial.model.errors import InfraError, ProviderError
from fairtrial.ports import Prices, Provider, Surroundings
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.testing.model_server import ModelServer
from fairtrial.workspaces.host.client import HostWorkspace

KEY = "sk-0123456789-secret"
HELLO = ModelCall((Message("user", "Hello?"),), model="m-1")
DIALECTS: list[dict[str, Any]] = [
    {"kind": "anthropic"},
    {"kind": "openai", "api": "responses"},
    {"kind": "openai", "api": "chat"},
]
BOTH_WAYS = [{**dialect, "stream": way} for dialect in DIALECTS for way in (True, False)]

each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda it: it.get("api", "claude"))
each_way = pytest.mark.parametrize(
    "dialect", BOTH_WAYS, ids=lambda it: f"{it.get('api', 'claude')}-{it['stream']}"
)


def provider(
    spec: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    prices: Prices | None = None,
) -> Provider:
    variables = {"THE_KEY": KEY} if environ is None else environ
    surroundings = Surroundings(Path(), variables, HostWorkspace(slots=1), prices)
    return build_provider(provider_spec(dict(spec), "spec"), surroundings, "spec")


def at(server: ModelServer, dialect: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Return the spec of a provider that calls a scripted server."""
    return {"base_url": server.url, "api_key_env": "THE_KEY", **dialect, **options}


def ask(made: Provider, call: ModelCall | WireCall = HELLO) -> ModelReply:
    async def run() -> ModelReply:
        await made.open()
        try:
            return await (made.send(call) if isinstance(call, WireCall) else made.complete(call))
        finally:
            await made.close()

    return asyncio.run(run())


def trouble(made: Provider, call: ModelCall = HELLO) -> InfraError | ProviderError:
    """Return what a call raised."""
    with pytest.raises((InfraError, ProviderError)) as caught:
        ask(made, call)
    assert isinstance(caught.value, InfraError | ProviderError)
    assert KEY not in str(caught.value)
    return caught.value
