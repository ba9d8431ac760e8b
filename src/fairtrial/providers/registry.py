"""The table of providers, and the way from a user's JSON to one that can be called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairtrial.model.call import ProviderSpec
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.caching import CachingProvider
from fairtrial.schema.kinds import Kinds

PROVIDERS: Final = Kinds(
    "provider",
    {
        "anthropic": "fairtrial.providers.anthropic",
        "openai": "fairtrial.providers.openai",
        "claude-code": "fairtrial.providers.claude_code",
        "codex": "fairtrial.providers.codex",
        "fake": "fairtrial.providers.fake",
    },
)


def provider_spec(value: Json, where: str) -> ProviderSpec:
    """Return the provider that a JSON object, or the name of a kind alone, describes.

    Raises:
        UsageError: none is given, it is unknown, or its options do not fit.
    """
    known = f"known providers: {', '.join(PROVIDERS.modules)}"
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise UsageError(
            "no provider is given"
            if value is None
            else "a provider is the name of a kind, or an object with 'kind'",
            where=where,
            fix=f'give "provider": NAME; {known}',
        )
    kind = value["kind"]
    if kind not in PROVIDERS.modules:
        raise UsageError(f"unknown provider {kind!r}", where=where, fix=known)
    options = {name: option for name, option in value.items() if name != "kind"}
    PROVIDERS.options(kind, options, where)
    return ProviderSpec(kind, options)


def build_provider(spec: ProviderSpec, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider of a spec, ready to be opened; where answers are kept, it keeps its own.

    Raises:
        UsageError: its options do not work out, e.g. name a file that does not exist.
    """
    options = PROVIDERS.options(spec.kind, spec.options, where)
    provider: Provider = PROVIDERS.module(spec.kind, where).build(options, surroundings, where)
    if surroundings.answers is None or surroundings.clock is None:
        return provider
    return CachingProvider(spec.kind, provider, surroundings.answers, surroundings.clock)
