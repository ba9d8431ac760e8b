"""What may come next in a filter that is being typed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fairtrial.model.errors import UsageError
from fairtrial.query.tokens import Sort, Token, tokens
from fairtrial.query.values import OPERATORS
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

_EXAMPLES = {Kind.INSTANT: ("1d", "7d", "14d", "30d"), Kind.BOOLEAN: ("yes", "no")}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on.

    Attributes:
        text: What takes the place of the characters from `start` to the cursor.
        start: Position of the first character it replaces, from 0.
        doc: What it means.
    """

    text: str
    start: int
    doc: str


def complete(text: str, vocabulary: Vocabulary, cursor: int | None = None) -> list[Suggestion]:
    """Return what may stand at a place of a filter, likeliest first; none inside a quoted text.

    Args:
        text: The filter.
        vocabulary: What it may name; the words of a `TEXT` field and the keys of a keyed one are
            suggested too.
        cursor: The place, from 0; None is the end. What follows it is not looked at.
    """
    typed = text if cursor is None else text[:cursor]
    try:
        found = tokens(typed)[:-1]
    except UsageError:
        return []
    typing = bool(found) and found[-1].end == len(typed) and found[-1].sort is Sort.WORD
    before = found[:-1] if typing else found
    prefix, start = (found[-1].text, found[-1].start) if typing else ("", len(typed))
    options = _options(before, vocabulary)
    return [
        Suggestion(option, start, doc)
        for option, doc in options.items()
        if option.startswith(prefix) and option != prefix
    ]


def _options(before: list[Token], vocabulary: Vocabulary) -> dict[str, str]:
    last = before[-1] if before else None
    if last is not None and last.sort is Sort.OPERATOR and len(before) > 1:
        return _values(_field(before[-2], vocabulary))
    if last is not None and last.sort is Sort.WORD and (field := _field(last, vocabulary)):
        at_value = len(before) > 1 and before[-2].sort is Sort.OPERATOR
        if not at_value:
            return dict.fromkeys(sorted(OPERATORS[field.kind]), field.doc)
    return _starts(vocabulary, joins=last is not None and last.sort is not Sort.OPEN)


def _starts(vocabulary: Vocabulary, *, joins: bool) -> dict[str, str]:
    found = {f"is:{name}": doc for name, doc in vocabulary.properties.items()}
    for name, field in vocabulary.fields.items():
        for form in _forms(name, field):
            found[form] = field.doc
    found["not"] = "the opposite of what follows"
    if joins:
        found |= {"and": "both", "or": "either"}
    return found


def _forms(name: str, field: Field) -> Iterable[str]:
    if not field.keyed or field.whole:
        yield name
    if field.keyed:
        yield from (f"{name}.{_word(key)}" for key in field.keys) if field.keys else (f"{name}.",)


def _word(text: str) -> str:
    """Return a text as it is written in a filter: in quotes unless it is one plain word."""
    try:
        found = tokens(text)
    except UsageError:
        found = []
    if len(found) == 2 and found[0].sort is Sort.WORD and text.lower() != "none":
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _values(field: Field | None) -> dict[str, str]:
    if field is None:
        return {}
    words = field.words or _EXAMPLES.get(field.kind, ())
    return {**{_word(word): field.doc for word in words}, "none": "no value"}


def _field(token: Token, vocabulary: Vocabulary) -> Field | None:
    field = vocabulary.fields.get(token.text)
    if field is not None:
        return field
    parent = vocabulary.fields.get(token.text.partition(".")[0])
    return parent if parent is not None and parent.keyed else None
