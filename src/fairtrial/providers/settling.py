"""Which provider and model a plan uses, when a spec leaves them open."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from fairtrial.model.call import ProviderSpec
from fairtrial.model.json import Json
from fairtrial.providers.choice import CLAUDE_MODEL, GPT_MODEL, Here, choose_provider
from fairtrial.providers.registry import provider_spec

_USUAL: Final[Mapping[str, tuple[str, str | None]]] = {
    "anthropic": (CLAUDE_MODEL, "ANTHROPIC_BASE_URL"),
    "openai": (GPT_MODEL, "OPENAI_BASE_URL"),
    "claude-code": (CLAUDE_MODEL, None),
    "codex": (GPT_MODEL, None),
}
"""The model that a kind takes by itself, and the variable that names another server."""


def settled_provider(
    given: Json, model: str | None, environ: Mapping[str, str], where: str
) -> tuple[dict[str, Json], str | None, str | None]:
    """Return the provider and the model that are really used, and a line that tells of a choice.

    Args:
        given: The provider as the user wrote it; None leaves it open.
        model: The model; None leaves it open.
        environ: The environment of this process.
        where: What the spec comes from, for error messages.

    Raises:
        UsageError: the provider is unknown, or none can be used here.
    """
    if given is not None:
        spec = provider_spec(given, where)
        return spec.content(), model or _usual_model(spec, environ), None
    here = Here(environ, lambda program: shutil.which(program, path=environ.get("PATH")))
    choice = choose_provider(here, model)
    return choice.spec.content(), choice.model, f"{choice.sentence}, model {choice.model}"


def _usual_model(spec: ProviderSpec, environ: Mapping[str, str]) -> str | None:
    """Return the model that a provider takes when none is named; None when only it knows."""
    own: str | None = spec.options.get("model")
    usual, variable = _USUAL.get(spec.kind, (None, None))
    elsewhere = spec.options.get("base_url") or (variable and environ.get(variable))
    return own or (None if elsewhere else usual)
