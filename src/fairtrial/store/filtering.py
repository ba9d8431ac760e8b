"""From a checked filter to SQL with parameters, for whatever is filtered."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import Column, ColumnElement, Select, and_, false, func, not_, or_

from fairtrial.query.expression import (
    And,
    Compare,
    Contains,
    Expression,
    Is,
    Not,
    Operator,
    Or,
    Value,
)
from fairtrial.store.codec import to_micros, to_text

Condition: TypeAlias = ColumnElement[bool]
Build: TypeAlias = Callable[[Compare], Condition]
"""Makes a condition of a comparison; for fields that are no single column."""

_COMPARE: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    Operator.EQUAL: operator.eq,
    Operator.NOT_EQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
}


@dataclass(frozen=True, slots=True)
class Filterable:
    """What a vocabulary names, in SQL.

    Attributes:
        fields: The column of each field, or what makes a condition of a comparison with it.
        properties: The condition of each property.
        contains: Makes the condition that a text stands somewhere.
    """

    fields: Mapping[str, Column[Any] | ColumnElement[Any] | Build]
    properties: Mapping[str, Condition]
    contains: Callable[[str], Condition]


def condition(expression: Expression, filterable: Filterable) -> Condition:
    """Return the condition of a filter. What has no value meets no comparison but `!=`."""
    match expression:
        case And(parts):
            return and_(*(condition(part, filterable) for part in parts))
        case Or(parts):
            return or_(*(condition(part, filterable) for part in parts))
        case Not(of):
            # NOT of an unknown is unknown in SQL, and no row at all would come.
            return not_(func.coalesce(condition(of, filterable), false()))
        case Is(word):
            return filterable.properties[word]
        case Contains(text):
            return filterable.contains(text)
        case Compare():
            return _compared(expression, filterable)


def _compared(found: Compare, filterable: Filterable) -> Condition:
    field = filterable.fields[found.field]
    if isinstance(field, ColumnElement):
        return compared(field, found.operator, found.value)
    return field(found)


def compared(column: ColumnElement[Any], how: Operator, value: Value) -> Condition:
    """Return the condition that a column holds against a value so."""
    if value is None:
        return column.is_(None) if how is Operator.EQUAL else column.is_not(None)
    if how in (Operator.CONTAINS, Operator.NOT_CONTAINS):
        found = column.ilike(pattern(str(value)), escape="\\")
        return found if how is Operator.CONTAINS else not_(func.coalesce(found, false()))
    met: Condition = _COMPARE[how](column, as_stored(value))
    return or_(met, column.is_(None)) if how is Operator.NOT_EQUAL else met


def among(of_it: Select[Any], column: ColumnElement[Any], found: Compare) -> Condition:
    """Return the condition that a comparison holds for one of several values.

    The opposites, `!=` and `!~`, hold when it does for none; `none` is that there are none.

    Args:
        of_it: Selects the values of what is filtered.
        column: The column of `of_it` that holds them.
        found: The comparison.
    """
    if found.value is None:
        has = of_it.exists()
        return ~has if found.operator is Operator.EQUAL else has
    how, negated = positive(found.operator)
    has = of_it.where(compared(column, how, found.value)).exists()
    return ~has if negated else has


def positive(how: Operator) -> tuple[Operator, bool]:
    """Return an operator without its negation, and whether it had one."""
    opposites = {
        Operator.NOT_EQUAL: Operator.EQUAL,
        Operator.NOT_CONTAINS: Operator.CONTAINS,
    }
    return opposites.get(how, how), how in opposites


def of_start(column: ColumnElement[Any]) -> Build:
    """Return what compares an id or a hash, which is meant by its start too."""

    def build(found: Compare) -> Condition:
        how, negated = positive(found.operator)
        if found.value is None or how is not Operator.EQUAL:
            return compared(column, found.operator, found.value)
        start = pattern(str(found.value))[1:]
        has = func.coalesce(column.ilike(start, escape="\\"), false())
        return ~has if negated else has

    return build


def pattern(text: str) -> str:
    """Return the pattern of a text that stands somewhere; a backslash escapes in it."""
    escaped = (to_text(text) or "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def as_stored(value: Value) -> Any:
    """Return a value as columns hold it."""
    if isinstance(value, datetime):
        return to_micros(value)
    return to_text(value) if isinstance(value, str) else value
