"""Templates of prompts: Jinja in a sandbox, strict about names, bounded in size and work.

A template may come from somebody else's spec, and its input from anywhere: it can call nothing,
change nothing, and neither run for ever nor fill the memory.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, Undefined, nodes
from jinja2.exceptions import TemplateError, TemplateSyntaxError
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fairtrial.tasks.prompt_bounds import (
    LARGEST,
    Made,
    TooMuchError,
    bounded,
    check_call,
    check_percent,
    check_size,
)
from fairtrial.tasks.template import as_text

_MOST_STEPS: Final = 200_000
"""Rounds of loops and calls of macros that one rendering may take."""
_LONGEST_S: Final = 2.0
"""Seconds of computing, so that a busy machine does not fail a trial."""
_STEPS_BETWEEN_LOOKS: Final = 1_000
_MOST_BITS: Final = 4_096
_TEMPLATE: Final = "<template>"


class TemplateProblemError(Exception):
    """A template cannot be compiled or filled; `str()` says why, with the line."""


class Template:
    """A template that can be filled many times.

    Args:
        source: Its text.
        name: What to call it in messages, e.g. `template` or `messages[0]`.

    Raises:
        TemplateProblemError: its syntax is wrong.
    """

    def __init__(self, source: str, name: str) -> None:
        self.name = name
        self._environment = _Environment()
        try:
            self.names = find_undeclared_variables(self._environment.parse(source))
            self._template = self._environment.from_string(source)
        except TemplateSyntaxError as error:
            where = _at(name, error.lineno)
            raise TemplateProblemError(f"{where}: {error.message or error}") from None
        except RecursionError:
            raise TemplateProblemError(f"{name} is nested too deeply") from None

    def fill(self, values: Mapping[str, Any]) -> str:
        """Return the text for some values.

        Raises:
            TemplateProblemError: it names what is not there, fails, or does too much.
        """
        self._environment.start()
        try:
            return self._environment.joined(*self._pieces(values))
        except RecursionError:
            raise TemplateProblemError(f"{self.name} calls itself too deeply") from None
        except Exception as error:  # noqa: BLE001  # a template's own error is of any class
            where = _at(self.name, _line_of(error))
            raise TemplateProblemError(f"{where}: {_sentence(error)}") from None

    def _pieces(self, values: Mapping[str, Any]) -> Iterator[str]:
        size = 0
        for piece in self._template.generate(values):
            size += len(piece)
            if size > LARGEST:
                raise TooMuchError(f"it writes more than {LARGEST:,} characters")
            yield piece


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, which also counts what a template does."""

    intercepted_binops = frozenset(["+", "*", "**", "%"])

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, autoescape=False, finalize=_finalized)
        self._made = Made()
        self.filters["tojson"] = _to_json
        for name, function in self.filters.items():
            self.filters[name] = bounded(name, function, self._made)
        del self.globals["lipsum"]
        self._steps = 0
        self._until = 0.0

    def start(self) -> None:
        """Begin a rendering."""
        self._steps, self._until = 0, time.thread_time() + _LONGEST_S
        self._made.start()

    def step(self) -> None:
        """Count one step of a rendering.

        Raises:
            TooMuchError: there were too many, or they took too long.
        """
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooMuchError(f"its loops take more than {_MOST_STEPS:,} rounds")
        if self._steps % _STEPS_BETWEEN_LOOKS == 0 and time.thread_time() > self._until:
            raise TooMuchError(f"it takes more than {_LONGEST_S:g} s of computing")

    def joined(self, *parts: Any) -> str:
        """Return the parts of a `~` as one text.

        Raises:
            TooMuchError: it would be too long.
        """
        texts = [part if isinstance(part, str) else str(_finalized(part)) for part in parts]
        check_size(sum(map(len, texts)))
        return str(self._made.add("".join(texts)))

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a key of an object before a method of Python's dict: `input.items` is a key."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Refuse results that are too large before they are made."""
        _check_result(operator, left, right)
        return self._made.add(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Refuse calls whose result would be too large."""
        check_call(obj, args, kwargs)
        return self._made.add(super().call(context, obj, *args, **kwargs))

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _counted(super()._parse(source, name, filename))


def _counted(tree: nodes.Template) -> nodes.Template:
    """Let every round of a loop and every call of a macro count as a step."""
    bodies: tuple[type[Any], ...] = (nodes.For, nodes.Macro, nodes.CallBlock)
    for node in tree.find_all(bodies):
        node.body.insert(0, nodes.ExprStmt(_own("step", [], node.lineno), lineno=node.lineno))
    return _with_joins(tree)


def _with_joins(tree: nodes.Template) -> nodes.Template:
    def replaced(value: Any) -> Any:
        if isinstance(value, list):
            return [replaced(item) for item in value]
        if not isinstance(value, nodes.Node):
            return value
        for field, child in value.iter_fields():
            setattr(value, field, replaced(child))
        if isinstance(value, nodes.Concat):
            return _own("joined", value.nodes, value.lineno)
        return value

    replaced(tree)
    if tree.environment is not None:
        tree.set_environment(tree.environment)
    return tree


def _own(name: str, arguments: list[nodes.Expr], lineno: int) -> nodes.Call:
    function = nodes.EnvironmentAttribute(name, lineno=lineno)
    return nodes.Call(function, arguments, [], None, None, lineno=lineno)


def _check_result(operator: str, left: Any, right: Any) -> None:
    match operator, left, right:
        case "*", (str() | list() | tuple()), int():
            check_size(len(left) * right)
        case "*", int(), (str() | list() | tuple()):
            check_size(left * len(right))
        case "+", (str() | list() | tuple()), (str() | list() | tuple()):
            check_size(len(left) + len(right))
        case "%", str(), _:
            check_percent(left, right)
        case "*", int(), int():
            _check_bits(left.bit_length() + right.bit_length())
        case "**", int(), int():
            _check_bits(left.bit_length() * max(right, 0))


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TooMuchError("it computes a number that is too large")


def _finalized(value: Any) -> Any:
    """Return a value as a prompt shows it: text as it is, any other JSON value as JSON."""
    if isinstance(value, str | Undefined):
        return value
    if value is None or isinstance(value, bool | dict | list | tuple):
        return as_text(list(value) if isinstance(value, tuple) else value)
    return value


def _to_json(value: Any, indent: int | None = None) -> str:
    # Jinja's own is for HTML: it would turn < into \u003c.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _sentence(error: Exception) -> str:
    if isinstance(error, TemplateError | TooMuchError):
        return str(error.message if isinstance(error, TemplateError) else error) or repr(error)
    return f"{type(error).__name__}: {error}"


def _line_of(error: Exception) -> int | None:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == _TEMPLATE]
    return lines[-1] if lines else None


def _at(name: str, line: int | None) -> str:
    return name if line is None else f"{name}, line {line}"
