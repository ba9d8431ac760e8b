"""Graders as plain functions, and what they may return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, overload

from fairtrial.model.errors import UsageError
from fairtrial.model.grader import Grade
from fairtrial.model.json import Json

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Score(Grade):
    """What a grader says of an output; a number or a boolean alone will do too.

    `Score(0.5, "half of it is there")`

    Attributes:
        value: 1 is best; None when it cannot be scored, which leaves the trial undecided.
        reason: Why, in a few words; shown beside a failure.
        cost_usd: What the model calls behind it cost; 0 when it made none, None when unknown.
        detail: What led to it, as JSON.
    """


@dataclass(frozen=True)
class Grader(Generic[P, R]):
    """A function that grades, with how its value counts; it can be called as before.

    Attributes:
        function: The function.
        name: What reports call it.
        threshold: An output passes this grader when its value is at least so much.
        weight: Its share in the trial's main score.
        required: Whether failing it fails the trial.
        timeout: Seconds that it may take.
    """

    function: Callable[P, R]
    name: str
    threshold: float | None = None
    weight: float = 1.0
    required: bool = True
    timeout: float = 60.0

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the function."""
        return self.function(*arguments, **named)

    @property
    def __wrapped__(self) -> Callable[P, R]:
        """The function: its signature says how it is called."""
        return self.function

    def spec(self, function: str) -> dict[str, Json]:
        """Return the grader as a spec writes it; `function` is what its function is called."""
        return {
            "kind": "python",
            "name": self.name,
            "function": function,
            "weight": self.weight,
            "required": self.required,
            "timeout": self.timeout,
            **({} if self.threshold is None else {"threshold": self.threshold}),
        }


@overload
def grader(function: Callable[P, R], /) -> Grader[P, R]: ...


@overload
def grader(
    *,
    name: str | None = None,
    threshold: float | None = None,
    weight: float = 1.0,
    required: bool = True,
    timeout: float = 60.0,
) -> Callable[[Callable[P, R]], Grader[P, R]]: ...


def grader(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a function a grader, and say how its value counts: `@grader` or `@grader(threshold=…)`.

    The function takes `(output, expected)`, `(output)`, or some of `input`, `output`, `expected`,
    `metadata` and `case` by these names. It may be async. It returns a number, a boolean, a
    `Score`, or a dict with `score` and `reason`.

    Args:
        function: The function.
        options: Those of a `Grader`; `name` is the function's unless given.

    Raises:
        UsageError: what is decorated is no function.
    """
    if function is None:
        return lambda decorated: _made(decorated, **options)
    return _made(function, **options)


def _made(function: Callable[..., Any], **options: Any) -> Grader[..., Any]:
    if not callable(function):
        raise UsageError(f"{function!r} is no function", where="@grader")
    name = options.pop("name", None) or name_of(function)
    return Grader(function, name, **options)


def name_of(function: Callable[..., Any]) -> str:
    """Return what a function is called: its own name, or that of its class."""
    target = getattr(function, "func", function)  # of a partial
    name = getattr(target, "__name__", None) or type(target).__name__
    return "lambda" if name == "<lambda>" else str(name)
