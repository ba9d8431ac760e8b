"""Every comparison that a vocabulary allows, to be tried on a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fairtrial.query.expression import Expression
from fairtrial.query.parsing import DEEPEST, MOST_PARTS, parse
from fairtrial.query.values import OPERATORS
from fairtrial.query.vocabulary import Field, Kind, Vocabulary
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


def largest(vocabulary: Vocabulary) -> Iterator[Expression]:
    """Yield the longest and the deepest filters there can be."""
    first = next(iter(vocabulary.properties))
    values = ", ".join(f"x{n}" for n in range(MOST_PARTS))
    texts = [
        " or ".join(["word"] * MOST_PARTS),
        " ".join(["'50%_off'"] * MOST_PARTS),
        *(f"{name} in ({values})" for name, f in vocabulary.fields.items() if _is_free(f)),
        "not " * (DEEPEST - 1) + f"is:{first}",
        "'" + "%_" * 4_900 + "'",
        "'" + "\N{GRINNING FACE}" * 9_900 + "'",
    ]
    pairs = DEEPEST // 2 - 1
    texts += [f"not (is:{first} {sign} " * pairs + "word" + ")" * pairs for sign in ("and", "or")]
    for text in texts:
        yield parse(text, vocabulary, NOON)


def _is_free(field: Field) -> bool:
    return field.kind is Kind.TEXT and not field.words
