"""Every kind of provider passes the same contract."""

from __future__ import annotations

import os
from pathlib import Path

from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import PROVIDERS, build_provider, provider_spec
from fairtrial.testing.provider import ProviderContract
from fairtrial.workspaces.host.client import HostWorkspace


def built(**options: object) -> Provider:
    spec = provider_spec({"kind": "fake", **options}, "test")
    surroundings = Surroundings(Path.cwd(), os.environ, HostWorkspace(slots=1))
    return build_provider(spec, surroundings, "test")


class TestFake(ProviderContract):
    def provider(self) -> Provider:
        return built(rules=[{"match": "hello", "reply": "Hello!"}], cost_usd=0.01)

    def unreachable(self) -> Provider:
        return built(fail_first=1, fail_as="network")


def test_every_kind_is_held_to_it() -> None:
    assert set(PROVIDERS.modules) == {"fake"}
