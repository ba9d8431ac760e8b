"""A Python function grades, sync or async."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import msgspec

from fairtrial.functions.calling import LateError, RaisedError, UserFunction
from fairtrial.functions.loading import fits, load_function, signature_of
from fairtrial.graders.answers import grade_in
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 0.5

Arguments: TypeAlias = Callable[[Subject], tuple[Any, ...]]


@dataclass(frozen=True)
class Options:
    """Options of a python grader."""

    function: str
    """`module:function`; the module is found in the spec's folder, the current folder or the
    installed packages. Called with `(output, expected)`, with `(output)`, or with the whole
    `(subject)` when its one parameter has that name; returns a number, a boolean, a `Grade`, or a
    dict with `score` and `reason`."""
    timeout: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 60.0
    """Seconds it may take; over it there is no score. A function that is not async runs on in its
    thread, unheard."""


@dataclass(frozen=True, slots=True)
class Python:
    """Calls a function of the user."""

    spec: GraderSpec
    options: Options
    function: UserFunction
    arguments: Arguments

    async def open(self) -> None:
        """Do nothing: threads start when calls need them."""

    async def grade(self, subject: Subject) -> Grade:
        """Call the function.

        Raises:
            GraderError: it raised, or returned something else than a score.
        """
        arguments = self.arguments(_copied(subject))
        try:
            answer = await self.function.call(self.options.timeout, *arguments)
        except LateError:
            raise GraderError(f"no answer within {self.options.timeout:g} s") from None
        except RaisedError as problem:
            raise GraderError(f"raised {problem}") from problem.error
        if isinstance(answer, Grade):
            checked = {"score": answer.value, "reason": answer.reason}
            return answer if answer.value is None else grade_in(checked)
        if isinstance(answer, bool):
            return Grade(float(answer), f"returned {answer}")
        return grade_in(answer)

    async def close(self) -> None:
        """Let the threads end."""
        self.function.close()


def _copied(subject: Subject) -> Subject:
    # What one function changes, no other grader and no other trial may see.
    copied = msgspec.to_builtins
    case = subject.case
    try:
        return replace(
            subject,
            output=copied(subject.output),
            metrics=dict(subject.metrics),
            case=replace(
                case,
                input=copied(case.input),
                expected=copied(case.expected),
                metadata=copied(dict(case.metadata)),
            ),
        )
    except RecursionError:
        raise GraderError("the output is nested too deeply to be handed over") from None


def _arguments(function: UserFunction, where: str) -> Arguments:
    signature = signature_of(function.target)
    if signature is None:
        return _output_and_expected
    if [*signature.parameters] == ["subject"]:
        return lambda subject: (subject,)
    if fits(signature, None, None):
        return _output_and_expected
    if fits(signature, None):
        return lambda subject: (subject.output,)
    raise UsageError(
        f"the function's signature is {signature}",
        where=where,
        fix="let it take (output, expected), (output) or (subject)",
    )


def _output_and_expected(subject: Subject) -> tuple[Any, ...]:
    return (subject.output, subject.case.expected)


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Python:
    """Return the grader, with its function imported.

    Raises:
        UsageError: the function cannot be imported or called.
    """
    function = load_function(options.function, surroundings.base_dir, where)
    return Python(spec, options, function, _arguments(function, where))
