"""From a user's JSON to a pairwise judge."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.pairwise import PairwiseSpec
from fairtrial.providers.registry import provider_spec
from fairtrial.schema.decoding import decode

KIND = "pairwise"
EXAMPLE = '{"kind": "pairwise", "name": "clarity", "rubric": "the clearer answer", "provider": …}'


@dataclass(frozen=True)
class Options:
    """Options of a pairwise judge."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    """What reports call it; unique in a comparison."""
    rubric: Annotated[str, Meta(min_length=1)]
    """What makes one output better than another, in plain words."""
    provider: Any = None
    """Who runs the model: the name of a provider, or an object with `kind` and its options."""
    model: str | None = None
    """The model; the provider's own choice unless given."""
    max_tokens: Annotated[int, Meta(ge=16)] = 1024
    """The most tokens of one answer, the reason included."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """How freely the model draws; the provider's own choice unless given."""
    timeout: Annotated[float, Meta(gt=0)] = 120.0
    """Seconds that one call may take."""


def pairwise_spec(value: Json, where: str) -> PairwiseSpec:
    """Return the judge that a JSON object describes.

    Raises:
        UsageError: it is of another kind, a key is unknown, or a value does not fit.
    """
    if not isinstance(value, Mapping):
        raise UsageError(
            "a pairwise judge is a JSON object, or a .json, .yaml or .toml file that holds one",
            where=where,
            why=f"this is {reprlib.repr(value)}",
            fix=f"write it like {EXAMPLE}",
        )
    if value.get("kind") != KIND:
        raise UsageError(f'its "kind" must be "{KIND}"', where=where, fix=f"e.g. {EXAMPLE}")
    own = {key: option for key, option in value.items() if key != "kind"}
    options = decode(Options, own, where)
    for text, name in ((options.name, "name"), (options.rubric, "rubric")):
        if not text.strip():
            raise UsageError(f"its {name!r} is empty", where=where)
    if not options.name.isprintable():
        raise UsageError(f"'name' must be one printable line, got {options.name!r}", where=where)
    if not math.isfinite(options.timeout):
        raise UsageError("'timeout' must be a finite number", where=where)
    return PairwiseSpec(
        name=options.name,
        rubric=options.rubric,
        provider=provider_spec(options.provider, where),
        model=options.model,
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        timeout_s=options.timeout,
    )


def pairwise_specs(values: Sequence[Json], where: str) -> tuple[PairwiseSpec, ...]:
    """Return the judges of a comparison.

    Raises:
        UsageError: as `pairwise_spec`, or two have one name.
    """
    several = len(values) > 1
    specs = tuple(
        pairwise_spec(value, f"{where} {i}" if several else where)
        for i, value in enumerate(values, start=1)
    )
    names = [spec.name for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two judges are called {twice!r}", where=where, fix="rename one of them")
    return specs
