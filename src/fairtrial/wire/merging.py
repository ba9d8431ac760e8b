"""A request's body with fields of the user's own."""

from __future__ import annotations

from collections.abc import Mapping

from fairtrial.model.json import Json


def overridden(body: Mapping[str, Json], params: Mapping[str, Json]) -> dict[str, Json]:
    """Return a body in which `params` win; a field set to null is left out."""
    merged = {**body, **params}
    return {name: value for name, value in merged.items() if params.get(name, value) is not None}
