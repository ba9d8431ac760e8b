"""The output, read as JSON, equals what is expected or holds at least that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.json_values import first_difference, read_json
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.model.wording import shown
from fairtrial.ports import Surroundings
from fairtrial.schema.json_pointer import LeadsNowhereError, parse_pointer, resolve_pointer

DEFAULT_THRESHOLD = 1.0


@dataclass(frozen=True)
class Options:
    """Options of a json grader."""

    value: Json = None
    """The expected JSON value; the case's `expected` unless given. A text that holds JSON is
    read."""
    mode: Literal["equal", "subset"] = "equal"
    """`subset` allows objects to have further keys; lists must have the same length."""
    path: str = ""
    """JSON pointer to the part of the output that is compared, e.g. `/result/0/name`."""


@dataclass(frozen=True, slots=True)
class JsonCompare(InProcessGrader):
    """Compares JSON values and names the first place where they differ."""

    options: Options
    steps: tuple[str, ...]

    def judge(self, subject: Subject) -> Grade:
        """Return 1 when the output has the expected value, else 0."""
        expected = _read_if_json(wanted(self.options.value, subject, "value"))
        output = subject.output
        if isinstance(output, str):
            try:
                output = read_json(output)
            except ValueError as error:
                if self.steps or not isinstance(expected, str):
                    return Grade(0.0, f"the output is no JSON ({error}): {shown(output)}")
        try:
            got = resolve_pointer(output, self.steps)
        except LeadsNowhereError as error:
            return Grade(0.0, f"nothing at {error.pointer}")
        subset = self.options.mode == "subset"
        difference = first_difference(expected, got, subset=subset)
        if difference is None:
            return Grade(1.0, f"{'holds' if subset else 'equals'} what is expected")
        return Grade(0.0, difference)


def _read_if_json(value: Json) -> Json:
    # Tables (CSV) can hold JSON only as text.
    if not isinstance(value, str):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def build(
    spec: GraderSpec, options: Options, _surroundings: Surroundings, where: str
) -> JsonCompare:
    """Return the grader.

    Raises:
        UsageError: the path is no JSON pointer.
    """
    try:
        return JsonCompare(spec, options, parse_pointer(options.path))
    except ValueError as error:
        raise UsageError(f"'path': {error}", where=where) from error
