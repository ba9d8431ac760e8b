"""Checks JSON values against JSON Schemas that users give; nothing is fetched."""

from __future__ import annotations

from typing import Any

import jsonschema
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from fairtrial.model.json import Json
from fairtrial.model.wording import shown

_LONG_MESSAGE = 160


class NoSchemaError(ValueError):
    """What was given as a JSON Schema is none; the message says where."""


class CannotValidateError(ValueError):
    """A value cannot be held against a schema."""


def validator_of(schema: Json) -> Any:
    """Return what checks values against a schema: 2020-12, unless its `$schema` says otherwise.

    Raises:
        NoSchemaError: it is no JSON Schema.
    """
    try:
        return _validator(schema)
    except SchemaError as error:
        raise NoSchemaError(_sentence(error)) from error


def first_problem(validator: Any, value: Json) -> str | None:
    """Return the most telling error of a value, in one line; None when it is valid.

    Raises:
        CannotValidateError: it cannot be checked.
    """
    try:
        worst = best_match(validator.iter_errors(value))
        return None if worst is None else _sentence(worst)
    except Unresolvable as unresolvable:
        reason = f"the schema refers to {unresolvable.ref}, which it does not hold"
        raise CannotValidateError(reason) from unresolvable
    except RecursionError:
        raise CannotValidateError("the output is nested too deeply to be validated") from None
    except (OverflowError, ValueError) as error:
        # An infinity, or more digits than Python writes.
        raise CannotValidateError(f"the output cannot be validated: {error}") from error


def _validator(schema: Json) -> Any:
    if not isinstance(schema, (dict, bool)):
        raise SchemaError("a schema is an object, true or false", instance=schema)
    if isinstance(schema, dict) and not isinstance(schema.get("$schema", ""), str):
        raise SchemaError("'$schema' is a text", instance=schema)
    # Typed for object schemas only; true and false are schemas as well.
    kind: Any = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except (OverflowError, RecursionError) as error:  # a huge repeat in a pattern, or deep nesting
        raise SchemaError(str(error), instance=schema) from error
    # A registry without a way to retrieve: `$ref` never reaches the network.
    return kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)


def _sentence(error: ValidationError | SchemaError) -> str:
    where = "".join(f"/{part}" for part in error.absolute_path)
    message = error.message
    if len(message) > _LONG_MESSAGE:
        message = f"{shown(error.instance)} fails {error.validator} {shown(error.validator_value)}"
    return f"at {where}: {message}" if where else message
