"""The output is valid against a JSON Schema, formats included; nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.json_values import read_json
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.wording import shown
from fairtrial.ports import Surroundings
from fairtrial.schema.validating import (
    CannotValidateError,
    NoSchemaError,
    first_problem,
    validator_of,
)

DEFAULT_THRESHOLD = 1.0

_VALID = Grade(1.0, "valid against the schema")


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
            problem = first_problem(validator, output)
        except CannotValidateError as error:
            raise GraderError(str(error)) from error
        return _VALID if problem is None else Grade(0.0, problem)

    def _expected(self, subject: Subject) -> Any:
        schema = wanted(None, subject, "schema")
        if isinstance(schema, str):
            try:
                schema = read_json(schema)
            except ValueError as error:
                raise GraderError(f"the case's 'expected' is no JSON Schema: {error}") from error
        try:
            return validator_of(schema)
        except NoSchemaError as error:
            raise GraderError(f"the case's 'expected' is no JSON Schema: {error}") from error


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
        return JsonSchema(spec, options, validator_of(options.schema))
    except NoSchemaError as error:
        raise UsageError(f"'schema' is no JSON Schema: {error}", where=where) from error
