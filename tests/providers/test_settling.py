"""A plan names the provider and the model that are really used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairtrial.model.errors import UsageError
from fairtrial.providers.choice import CLAUDE_MODEL, GPT_MODEL
from fairtrial.providers.settling import settled_provider


@pytest.mark.parametrize(
    ("given", "model", "environ", "used"),
    [
        ("anthropic", None, {}, CLAUDE_MODEL),
        ("anthropic", "m-1", {}, "m-1"),
        ("openai", None, {}, GPT_MODEL),
        ("openai", None, {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, None),
        ({"kind": "openai", "base_url": "http://127.0.0.1:1/v1"}, None, {}, None),
        ({"kind": "openai", "model": "own"}, None, {"OPENAI_BASE_URL": "http://x"}, "own"),
        ("claude-code", None, {"ANTHROPIC_BASE_URL": "http://x"}, CLAUDE_MODEL),
        ("codex", None, {}, GPT_MODEL),
        ("fake", None, {}, None),
    ],
)
def test_a_given_provider_has_its_usual_model(
    given: Any, model: str | None, environ: dict[str, str], used: str | None
) -> None:
    provider, chosen, note = settled_provider(given, model, environ, "spec")
    assert provider["kind"] == (given if isinstance(given, str) else given["kind"])
    assert (chosen, note) == (used, None)


def test_what_is_left_open_is_chosen_and_told(tmp_path: Path) -> None:
    environ = {"OPENAI_API_KEY": "k-1", "PATH": str(tmp_path)}
    provider, model, note = settled_provider(None, None, environ, "spec")
    assert (provider, model) == ({"kind": "openai"}, GPT_MODEL)
    assert note == f"provider: openai (OPENAI_API_KEY is set), model {GPT_MODEL}"
    assert settled_provider(None, "gpt-x", environ, "spec")[1] == "gpt-x"


def test_without_any_way_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no way to call a model"):
        settled_provider(None, None, {"PATH": str(tmp_path)}, "spec")
