"""Every comparison that a vocabulary allows, to be tried on a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.query.expression import Expression
from fairtrial.query.parsing import parse
from fairtrial.query.values import OPERATORS
from fairtrial.query.vocabulary import Kind, Vocabulary
from fairtrial.testing.store.facts import NOON

_VALUES: Final = {
    Kind.TEXT: "'x%y_z'",
    Kind.WORD: "x",
    Kind.NUMBER: "0.5",
    Kind.INSTANT: "14d",
    Kind.BOOLEAN: "yes",
}


def every_comparison(vocabulary: Vocabulary) -> Iterator[Expression]:
    """Yield a filter for each property, and for each field with each operator and `none`."""
    for name in vocabulary.properties:
        yield parse(f"is:{name}", vocabulary, NOON)
        yield parse(f"not is:{name}", vocabulary, NOON)
    yield parse("text", vocabulary, NOON)
    for name, field in vocabulary.fields.items():
        value = field.words[0] if field.words else _VALUES[field.kind]
        forms = [name] if not field.keyed or field.whole else []
        if field.keyed:
            forms.append(f"{name}.{field.keys[0] if field.keys else 'exact'}")
        for form in forms:
            for operator in OPERATORS[field.kind]:
                yield parse(f"{form} {operator} {value}", vocabulary, NOON)
            yield parse(f"{form} = none", vocabulary, NOON)
            yield parse(f"{form} != none", vocabulary, NOON)
