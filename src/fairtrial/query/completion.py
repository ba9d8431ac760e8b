"""What may come next in a filter that is being typed."""

from __future__ import annotations

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


def complete(text: str, vocabulary: Vocabulary) -> list[Suggestion]:
    """Return what may stand at the end of a filter, likeliest first; none inside a quoted text."""
    try:
        found = tokens(text)[:-1]
    except UsageError:
        return []
    typing = bool(found) and found[-1].end == len(text) and found[-1].sort is Sort.WORD
    before = found[:-1] if typing else found
    prefix, start = (found[-1].text, found[-1].start) if typing else ("", len(text))
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
        found[f"{name}." if field.keyed else name] = field.doc
    found["not"] = "the opposite of what follows"
    if joins:
        found |= {"and": "both", "or": "either"}
    return found


def _values(field: Field | None) -> dict[str, str]:
    if field is None:
        return {}
    words = field.words or _EXAMPLES.get(field.kind, ())
    return {**dict.fromkeys(words, field.doc), "none": "no value"}


def _field(token: Token, vocabulary: Vocabulary) -> Field | None:
    field = vocabulary.fields.get(token.text)
    if field is not None:
        return field
    parent = vocabulary.fields.get(token.text.partition(".")[0])
    return parent if parent is not None and parent.keyed else None
