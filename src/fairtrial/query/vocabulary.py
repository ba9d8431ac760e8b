"""What a filter may name: the fields and properties of sessions, experiments, rows, calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Kind(StrEnum):
    """What values a field has, and with it which operators make sense."""

    TEXT = "text"
    WORD = "word"
    """One of a few words, compared whole."""
    NUMBER = "number"
    INSTANT = "instant"
    """A moment: `2026-11-29`, `2026-11-29T14:00`, or an age such as `14d` (that long ago)."""
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Field:
    """One field.

    Attributes:
        kind: What values it has.
        doc: One line of help.
        words: The values that a `WORD` can have, for errors and completion; empty is any. Those
            of a `TEXT` are only suggested.
        keyed: It has parts, chosen after a dot: `score.exact`.
        whole: It has parts, and means something without one too.
        keys: The names of its parts; empty is any.
    """

    kind: Kind
    doc: str
    words: tuple[str, ...] = ()
    keyed: bool = False
    whole: bool = False
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a filter over one kind of thing may say.

    Attributes:
        of: What is filtered, in the plural: `sessions`.
        fields: By name.
        properties: What `is:` takes, each with one line of help.
    """

    of: str
    fields: Mapping[str, Field]
    properties: Mapping[str, str] = field(default_factory=dict)

    def with_keys(self, keys: Mapping[str, tuple[str, ...]]) -> Vocabulary:
        """Return it with what is known of the parts of some fields."""
        known = {name: replace(self.fields[name], keys=keys[name]) for name in keys}
        return replace(self, fields={**self.fields, **known})

    def with_words(self, words: Mapping[str, tuple[str, ...]]) -> Vocabulary:
        """Return it with values that are suggested for some fields."""
        known = {name: replace(self.fields[name], words=words[name]) for name in words}
        return replace(self, fields={**self.fields, **known})
