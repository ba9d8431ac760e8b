"""What a filter says, as a tree."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


class Operator(StrEnum):
    """How a field is held against a value."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "~"
    NOT_CONTAINS = "!~"


Value: TypeAlias = str | float | bool | datetime | None
"""None is written `none`: the field has no value."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A field against a value.

    Attributes:
        field: The field's name; `score.NAME` and the like keep the part after the dot in `key`.
        key: What is chosen within the field; None when it has no parts.
        operator: How.
        value: What it is held against, as the field's kind asks for it.
    """

    field: str
    key: str | None
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class Is:
    """`is:WORD`: a property that holds or not."""

    word: str


@dataclass(frozen=True, slots=True)
class Contains:
    """A text that is searched for in whatever is readable."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    of: Expression


@dataclass(frozen=True, slots=True)
class And:
    """All of several."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of several."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = Compare | Is | Contains | Not | And | Or
