"""How a function gets the call beside the case input."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.functions.calling import UserFunction
from fairtrial.functions.loading import fits, signature_of
from fairtrial.model.errors import UsageError

_CALL_NAMES: Final = ("call", "context")


@dataclass(frozen=True, slots=True)
class Passing:
    """The place of the call among a function's arguments; it has none unless one is given.

    Attributes:
        second: It is the second argument.
        name: The keyword argument it is.
    """

    second: bool = False
    name: str | None = None

    def arguments(self, case_input: Any, call: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the positional and the keyword arguments with the call in its place."""
        positional = (case_input, call) if self.second else (case_input,)
        return positional, {} if self.name is None else {self.name: call}


NOT_PASSED: Final = Passing()


def way_to_pass(function: UserFunction, arguments: Mapping[str, Any], where: str) -> Passing:
    """Return how a function wants the call.

    Args:
        function: The function.
        arguments: Keyword arguments it will be called with as well.
        where: For error messages.

    Raises:
        UsageError: it cannot be called with a case input and these arguments.
    """
    signature = signature_of(function.target)
    if signature is None:
        return NOT_PASSED
    for passing in _ways(signature, arguments):
        positional, named = passing.arguments(None, None)
        if fits(signature, *positional, **named, **arguments):
            return passing
    names = ", ".join(f"{name}=…" for name in arguments)
    raise UsageError(
        "the function cannot be called with the case input" + (f" and {names}" if names else ""),
        where=where,
        why=f"its parameters are {signature}",
        fix="its first parameter takes the case input; a second one, or one named 'call', takes "
        "the call; option 'arguments' gives the others by name",
    )


def _ways(signature: inspect.Signature, arguments: Mapping[str, Any]) -> Iterator[Passing]:
    for parameter in list(signature.parameters.values())[1:]:
        named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        if named and parameter.name in _CALL_NAMES and parameter.name not in arguments:
            yield Passing(name=parameter.name)
    yield NOT_PASSED
    yield Passing(second=True)
