"""Options: found with their docs, decoded with clear errors, described as JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import jsonschema
import pytest
from msgspec import Meta

from fairtrial.model.errors import UsageError
from fairtrial.schema.decoding import decode
from fairtrial.schema.fields import group, option, options_of
from fairtrial.schema.json_schema import json_schema


@dataclass(frozen=True)
class Limits:
    """Some limits."""

    trials: Annotated[int, Meta(ge=1)] = 1
    """How often each case is run."""
    mode: Literal["fast", "slow"] = "fast"
    """How."""


@dataclass(frozen=True)
class Request:
    """A request."""

    dataset: str = option(short="-d", metavar="NAME")
    """Dataset name,
    on two lines."""
    limits: Limits = group(Limits)
    cases: tuple[str, ...] = option((), flag="--case")
    """Patterns."""
    folder: Path | None = None
    """Where."""


def test_options_are_flattened_with_their_docs() -> None:
    found = {o.name: o for o in options_of(Request)}
    assert list(found) == ["dataset", "trials", "mode", "cases", "folder"]
    assert found["dataset"].doc == "Dataset name, on two lines."
    assert found["dataset"].required
    assert found["trials"].path == ("limits", "trials")
    assert found["cases"].flag == "--case"
    assert found["trials"].flag == "--trials"


def test_decode_builds_groups_and_converts() -> None:
    request = decode(Request, {"dataset": "d", "trials": 3, "cases": ["a*"], "folder": "/x"}, "s")
    assert request == Request("d", Limits(trials=3), ("a*",), Path("/x"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dataset": "d", "trails": 2}, "unknown 'trails' (did you mean 'trials'?)"),
        ({}, "'dataset' is missing"),
        ({"dataset": "d", "trials": 0}, "'trials': expected int >= 1, got 0"),
        ({"dataset": "d", "trials": "3"}, "'trials': expected int, got str"),
        ({"dataset": "d", "mode": "warp"}, "'mode': Invalid enum value 'warp'"),
        ({"dataset": "d", "folder": 3}, "'folder': expected"),
    ],
)
def test_decode_says_what_is_wrong(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        decode(Request, values, "spec.json")
    assert message in str(caught.value)
    assert caught.value.where == "spec.json"


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        decode(Request, {"trials": 0, "nope": 1}, "spec.json")
    assert str(caught.value).count(";") == 2


def test_schema_accepts_what_decode_accepts() -> None:
    schema = json_schema(Request, title="Request")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate({"dataset": "d", "trials": 3, "cases": ["a"]}, schema)
    for bad in ({"dataset": "d", "trials": 0}, {"dataset": "d", "x": 1}, {}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)
    assert schema["properties"]["trials"]["description"] == "How often each case is run."
