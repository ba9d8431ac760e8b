"""What may come next in a filter, with the values that are on record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fairtrial.query.completion import Suggestion, complete
from fairtrial.query.vocabularies import VOCABULARIES
from fairtrial.query.vocabulary import Kind, Vocabulary
from fairtrial.store.names import names


def complete_filter(
    home: Path, of: str, text: str, cursor: int | None = None, scope: str | None = None
) -> Sequence[Suggestion]:
    """Return what may stand at a place of a filter; it opens no store, and is there at once.

    Args:
        home: Folder of the store.
        of: What is filtered: `sessions`, `experiments`, `rows` or `calls`.
        text: The filter.
        cursor: The place in it, from 0; None is the end.
        scope: The experiment that rows are of: its id or its name.
    """
    typed = text if cursor is None else text[:cursor]
    return complete(text, _with_names(home, VOCABULARIES[of], typed, scope), cursor)


def _with_names(home: Path, vocabulary: Vocabulary, typed: str, scope: str | None) -> Vocabulary:
    """Return a vocabulary with the values of those fields that are written in a filter."""
    words, keys = {}, {}
    for name, field in vocabulary.fields.items():
        if name not in typed and not (field.keyed and name.startswith(_last_word(typed))):
            continue
        kind = f"{vocabulary.of}.{name}"
        if field.keyed and not field.keys and (found := names(home, kind, scope)):
            keys[name] = found
        if field.kind is Kind.TEXT and not field.words and (found := names(home, kind, scope)):
            words[name] = found
    return vocabulary.with_keys(keys).with_words(words)


def _last_word(typed: str) -> str:
    return typed.rpartition(" ")[2]
