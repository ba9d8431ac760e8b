"""The options of a dataclass, flattened, with their documentation."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

_KEY = "fairtrial.option"

JSON_OR_FILE = "JSON|FILE"
"""Metavar of an option that takes a JSON value or the path of a file that holds one."""

MISSING: Any = dataclasses.MISSING
"""The default of an option that must be given."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What only the command line needs to know of an option.

    Attributes:
        flag: Its long flag; None derives it from the name.
        short: Its one-letter flag, e.g. `-g`.
        metavar: What its value is called, e.g. `JSON|FILE`.
        positional: It is an argument, not a flag.
        hidden: It cannot be given on the command line.
        bare: The value it has when its flag is given without one; None asks for a value.
    """

    flag: str | None = None
    short: str | None = None
    metavar: str | None = None
    positional: bool = False
    hidden: bool = False
    bare: str | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a request or of a kind.

    Attributes:
        name: Its key in a spec file and a request body.
        path: The names of the groups it sits in, outermost first, and its own.
        type: Its type, with its constraints.
        default: Its default; `MISSING` when it must be given.
        doc: Its help text.
        command_line: How the command line takes it.
    """

    name: str
    path: tuple[str, ...]
    type: Any
    default: Any
    doc: str
    command_line: CommandLine

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING

    @property
    def flag(self) -> str:
        """Its long flag, or its name in capitals when it is positional."""
        if self.command_line.positional:
            return self.name.upper()
        return self.command_line.flag or "--" + self.name.replace("_", "-")

    @property
    def negative(self) -> str | None:
        """The flag that turns off what is on by default; None for any other option."""
        return f"--no-{self.flag[2:]}" if self.type is bool and self.default is True else None


def option(  # noqa: PLR0913  # mirrors CommandLine, so that a field declares itself in one line
    default: Any = MISSING,
    *,
    flag: str | None = None,
    short: str | None = None,
    metavar: str | None = None,
    positional: bool = False,
    hidden: bool = False,
    bare: str | None = None,
) -> Any:
    """Return a dataclass field with what the command line needs to know of it."""
    line = CommandLine(flag, short, metavar, positional, hidden, bare)
    return dataclasses.field(default=default, metadata={_KEY: line})


def group(kind: type) -> Any:
    """Return a dataclass field that holds a group of options; its options stand beside its own."""
    return dataclasses.field(default_factory=kind)


def options_of(kind: type) -> tuple[Option, ...]:
    """Return all options of a dataclass, those of its groups in their place."""
    return _options_of(kind)


@cache  # a command asks ten times for the same few
def _options_of(kind: type) -> tuple[Option, ...]:
    return tuple(_walk(kind, ()))


def _walk(kind: type, path: tuple[str, ...]) -> Iterator[Option]:
    hints = get_type_hints(kind, include_extras=True)
    docs = field_docs(kind)
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        if is_group(field):
            yield from _walk(hint, (*path, field.name))
            continue
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        line = field.metadata.get(_KEY, CommandLine())
        doc = docs.get(field.name, "")
        yield Option(field.name, (*path, field.name), hint, default, doc, line)


def is_group(field: dataclasses.Field[Any]) -> bool:
    """Return whether a dataclass field holds a group of options."""
    factory: Any = field.default_factory
    return isinstance(factory, type) and dataclasses.is_dataclass(factory)


def field_docs(kind: type) -> dict[str, str]:
    """Return the string that stands under each field of a class, inherited ones included."""
    docs: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if dataclasses.is_dataclass(base):
            docs |= _docs_in_source(base)
    return docs


def _docs_in_source(kind: type) -> dict[str, str]:
    path = sys.modules[kind.__module__].__file__
    if path is None:
        return {}
    docs = {}
    for field, text in itertools.pairwise(_classes_in(path).get(kind.__name__, ())):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(doc))),
            ):
                docs[name] = " ".join(doc.split())
    return docs


@cache  # the groups of a request stand in one file
def _classes_in(path: str) -> dict[str, list[ast.stmt]]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}
