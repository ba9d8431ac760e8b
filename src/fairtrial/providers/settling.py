"""Which provider and model a plan uses, when a spec leaves them open."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from fairtrial.model.json import Json
from fairtrial.providers.choice import Here, choose_provider
from fairtrial.providers.registry import provider_spec


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
        return provider_spec(given, where).content(), model, None
    here = Here(environ, lambda program: shutil.which(program, path=environ.get("PATH")))
    choice = choose_provider(here, model)
    return choice.spec.content(), choice.model, f"{choice.sentence}, model {choice.model}"
