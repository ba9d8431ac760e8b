"""A Python function grades, sync or async."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from fairtrial.functions.calling import LateError, RaisedError, UserFunction
from fairtrial.functions.loading import fits, load_function, signature_of
from fairtrial.graders.answers import grade_in
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 0.5

Arguments: TypeAlias = Callable[[Subject], tuple[tuple[Any, ...], dict[str, Any]]]

_NAMED: Final[Mapping[str, Callable[[Subject], Any]]] = MappingProxyType(
    {
        "output": lambda subject: subject.output,
        "expected": lambda subject: subject.case.expected,
        "input": lambda subject: subject.case.input,
        "metadata": lambda subject: subject.case.metadata,
        "case": lambda subject: subject.case,
    }
)
_FURTHER: Final = frozenset({"input", "metadata", "case"})


@dataclass(frozen=True)
class Options:
    """Options of a python grader."""

    function: str
    """`module:function`; the module is found in the spec's folder, the current folder or the
    installed packages. Called with `(output, expected)`, with `(output)`, or with the whole
    `(subject)` when its one parameter has that name. One with `output` and with `input`, `metadata`
    or `case` among its parameters gets what they name. Returns a number, a boolean, a `Grade`, or
    a dict with `score` and `reason`."""
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
        arguments, named = self.arguments(_copied(subject))
        try:
            answer = await self.function.call(self.options.timeout, *arguments, **named)
        except LateError:
            raise GraderError(f"no answer within {self.options.timeout:g} s") from None
        except RaisedError as problem:
            raise GraderError(f"raised {problem}") from problem.error
        if isinstance(answer, Grade):
            if answer.value is None:
                return answer
            sound = grade_in({"score": _number(answer.value), "reason": answer.reason})
            return replace(answer, value=sound.value, reason=sound.reason)
        said = _number(answer)
        if said is not answer:
            return Grade(said, f"returned {bool(said)}")
        return grade_in(answer)

    async def close(self) -> None:
        """Let the threads end."""
        self.function.close()


def _number(answer: Any) -> Any:
    """Return 1.0 or 0.0 for a boolean, Python's or numpy's; what else was answered as it is."""
    kind = type(answer)
    if kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_")):
        return float(bool(answer))
    return answer


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
        return lambda subject: ((subject,), {})
    if _is_by_name(signature):
        return _by_name(signature)
    if fits(signature, None, None):
        return _output_and_expected
    if fits(signature, None):
        return lambda subject: ((subject.output,), {})
    raise UsageError(
        f"the function's signature is {signature}",
        where=where,
        fix="let it take (output, expected), (output), (subject) or (input, output, expected)",
    )


def _output_and_expected(subject: Subject) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (subject.output, subject.case.expected), {}


def _is_by_name(signature: inspect.Signature) -> bool:
    """Return whether a function's parameters name what it wants, and no two alone would do."""
    names = {
        name
        for name, parameter in signature.parameters.items()
        if name in _NAMED or parameter.default is parameter.empty
    }
    return "output" in names and bool(_FURTHER & names) and _NAMED.keys() >= names


def _by_name(signature: inspect.Signature) -> Arguments:
    kinds = {name: p.kind for name, p in signature.parameters.items() if name in _NAMED}
    apart = [name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_ONLY]
    named = [name for name in kinds if name not in apart]

    def arguments(subject: Subject) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (
            tuple(_NAMED[name](subject) for name in apart),
            {name: _NAMED[name](subject) for name in named},
        )

    return arguments


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Python:
    """Return the grader, with its function imported.

    Raises:
        UsageError: the function cannot be imported or called.
    """
    function = load_function(options.function, surroundings.base_dir, where, surroundings.functions)
    return Python(spec, options, function, _arguments(function, where))
