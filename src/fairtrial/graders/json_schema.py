"""The output is valid against a JSON Schema, formats included; nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jsonschema
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from referencing import Registry
from referencing.exceptions import Unresolvable

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.json_values import read_json
from fairtrial.graders.wording import shown
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0

_VALID = Grade(1.0, "valid against the schema")
_LONG_MESSAGE = 160


@dataclass(frozen=True)
class Options:
    """Options of a json_schema grader."""

    schema: dict[str, Any] | bool | None = None
    """The schema (2020-12 unless its `$schema` says otherwise); the case's `expected` unless
    given."""
    parse: bool = True
    """Read an output that is a text as JSON; without it, the text itself is checked."""


@dataclass(frozen=True, slots=True)
class JsonSchema(InProcessGrader):
    """Validates outputs and tells the most telling error."""

    options: Options
    validator: Any

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the output is valid, else 0."""
        validator = self.validator or self._expected(subject)
        output = subject.output
        if self.options.parse and isinstance(output, str):
            try:
                output = read_json(output)
            except ValueError as error:
                return Grade(0.0, f"the output is no JSON ({error}): {shown(output)}")
        try:
            worst = best_match(validator.iter_errors(output))
            return _VALID if worst is None else Grade(0.0, _sentence(worst))
        except Unresolvable as unresolvable:
            raise GraderError(
                f"the schema refers to {unresolvable.ref}, which it does not hold"
            ) from unresolvable
        except RecursionError:
            raise GraderError("the output is nested too deeply to be validated") from None
        except (
            OverflowError,
            ValueError,
        ) as error:  # an infinity, or more digits than Python writes
            raise GraderError(f"the output cannot be validated: {error}") from error

    def _expected(self, subject: Subject) -> Any:
        schema = wanted(None, subject, "schema")
        if isinstance(schema, str):
            try:
                schema = read_json(schema)
            except ValueError as error:
                raise GraderError(f"the case's 'expected' is no JSON Schema: {error}") from error
        try:
            return _validator(schema)
        except SchemaError as error:
            raise GraderError(
                f"the case's 'expected' is no JSON Schema: {_sentence(error)}"
            ) from error


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


def build(
    spec: GraderSpec, options: Options, _surroundings: Surroundings, where: str
) -> JsonSchema:
    """Return the grader.

    Raises:
        UsageError: the schema is none.
    """
    if options.schema is None:
        return JsonSchema(spec, options, None)
    try:
        return JsonSchema(spec, options, _validator(options.schema))
    except SchemaError as error:
        raise UsageError(f"'schema' is no JSON Schema: {_sentence(error)}", where=where) from error
