"""Which kinds of graders there are, and the way from a spec to a grader."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json
from fairtrial.model.wording import shown
from fairtrial.ports import Grader, Surroundings
from fairtrial.schema.decoding import decode, unknown_name
from fairtrial.schema.fields import options_of
from fairtrial.schema.json_schema import json_schema
from fairtrial.schema.kinds import Kinds

GRADERS = Kinds(
    "grader",
    {
        "exact": "fairtrial.graders.exact",
        "contains": "fairtrial.graders.contains",
        "regex": "fairtrial.graders.regex",
        "number": "fairtrial.graders.number",
        "json": "fairtrial.graders.json_compare",
        "json_schema": "fairtrial.graders.json_schema",
        "similarity": "fairtrial.graders.similarity",
        "command": "fairtrial.graders.command",
        "python": "fairtrial.graders.python",
        "same_action": "fairtrial.graders.same_action",
        "behavior": "fairtrial.graders.behavior.grader",
        "judge": "fairtrial.graders.judge.grader",
        "verifier": "fairtrial.graders.verifier",
    },
)


_COMPARING = frozenset(
    {"exact", "contains", "regex", "number", "json", "similarity", "same_action", "verifier"}
)


@dataclass(frozen=True)
class Shared:
    """What every grader takes; `negate` is written `not`."""

    name: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    """What reports call it; the kind unless given. Unique in an experiment."""
    negate: bool = False
    """Turn the value v around to 1 - v."""
    weight: Annotated[float, Meta(ge=0)] = 1.0
    """Its share in the trial's main score."""
    threshold: float | None = None
    """The trial passes this grader when value >= threshold; each kind has its own default."""
    required: bool = True
    """Whether failing it fails the trial; else it only adds to the main score."""


_OWN_SCALE = frozenset({"command", "python"})
"""Kinds whose values may be any number; those of all others are from 0 to 1."""

_SHARED_KEYS = {
    "not" if option.name == "negate" else option.name: option.name for option in options_of(Shared)
}


def grader_spec(value: Json, where: str) -> GraderSpec:
    """Return the grader that a JSON object, or the name of a kind alone, describes.

    Raises:
        UsageError: an unknown kind or key, or a value that does not fit.
    """
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("kind"), str):
        raise UsageError(
            f"a grader is the name of a kind or an object with 'kind', got {shown(value)}",
            where=where,
            fix=f"known kinds: {', '.join(GRADERS.modules)}",
        )
    kind = value["kind"]
    module = GRADERS.module(kind, where)
    known = {option.name for option in options_of(module.Options)} | {"kind", *_SHARED_KEYS}
    unknown = [unknown_name(str(key), known) for key in value if key not in known]
    if unknown:
        raise UsageError("; ".join(unknown), where=f"{where} ({kind} grader)")
    own = {k: v for k, v in value.items() if k != "kind" and k not in _SHARED_KEYS}
    GRADERS.options(kind, own, where)
    shared = _shared(value, f"{where} ({kind} grader)")
    if kind not in _OWN_SCALE and shared.threshold is not None and shared.threshold > 1:
        raise UsageError(
            f"'threshold' is {shared.threshold:g}, and the value is at most 1: nothing could pass",
            where=f"{where} ({kind} grader)",
        )
    return GraderSpec(
        kind=kind,
        name=shared.name or kind,
        options=own,
        negate=shared.negate,
        weight=shared.weight,
        threshold=shared.threshold,
        required=shared.required,
    )


def grader_specs(values: Sequence[Json], where: str) -> tuple[GraderSpec, ...]:
    """Return the graders of an experiment.

    Raises:
        UsageError: as `grader_spec`; two have one name; or none is required.
    """
    specs = tuple(grader_spec(value, f"{where}[{i}]") for i, value in enumerate(values))
    names: set[str] = set()
    for i, spec in enumerate(specs):
        if spec.name in names:
            raise UsageError(
                f"a second grader is called {spec.name!r}",
                where=f"{where}[{i}]",
                fix=f'give it a "name" of its own, e.g. "{spec.name}_2"',
            )
        names.add(spec.name)
    if not any(spec.required for spec in specs):
        raise UsageError(
            "no grader is required, so nothing could pass or fail" if specs else "no grader",
            where=where,
            fix='leave out "required": false on at least one' if specs else "give at least one",
        )
    return specs


def build_grader(spec: GraderSpec, surroundings: Surroundings, where: str) -> Grader:
    """Return the grader of a spec; its own spec has the threshold filled in.

    Raises:
        UsageError: an option does not work out, e.g. a pattern that does not compile.
    """
    module = GRADERS.module(spec.kind, where)
    options = GRADERS.options(spec.kind, spec.options, where)
    if spec.threshold is None:
        spec = dataclasses.replace(spec, threshold=module.DEFAULT_THRESHOLD)
    grader = module.build(spec, options, surroundings, f"{where} ({spec.name})")
    return cast("Grader", grader)


def compares(spec: GraderSpec) -> bool:
    """Return whether a grader's reasons tell what the output should have been.

    It holds outputs against one right answer, the case's or its own, and says where they differ;
    a verifier quotes tests that the agent must not see.
    """
    own_schema = spec.options.get("schema") is not None
    return spec.kind in _COMPARING or (spec.kind == "json_schema" and not own_schema)


def sees_expected(spec: GraderSpec) -> bool:
    """Return whether a grader's model is shown what is expected, if a case says it."""
    return spec.kind == "judge" and "expected" in (spec.options.get("include") or ("expected",))


def grader_schemas() -> list[dict[str, Json]]:
    """Return the JSON Schema of every kind, for editors and the reference."""
    properties = json_schema(Shared, title="grader")["properties"]
    return GRADERS.schemas({key: properties[name] for key, name in _SHARED_KEYS.items()})


def _shared(value: Mapping[str, Json], where: str) -> Shared:
    given = {name: value[key] for key, name in _SHARED_KEYS.items() if key in value}
    try:
        shared = decode(Shared, given, where)
    except UsageError as error:
        raise UsageError(error.what.replace("'negate'", "'not'"), where=error.where) from None
    for name in ("weight", "threshold"):
        number = getattr(shared, name)
        if number is not None and not math.isfinite(number):
            raise UsageError(f"{name!r} must be a finite number, got {number}", where=where)
    if shared.name is not None and not (shared.name.isprintable() and shared.name.strip()):
        raise UsageError(f"'name' must be one printable line, got {shared.name!r}", where=where)
    return shared
