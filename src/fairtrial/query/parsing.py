"""From the text of a filter to a checked expression.

filter   = any
any      = all ("or" all)*
all      = not (["and"] not)*
not      = "not" not | "(" any ")" | is | compare | text
is       = "is:" WORD
compare  = FIELD OPERATOR VALUE | FIELD ["not"] "in" "(" VALUE ("," VALUE)* ")"
FIELD    = NAME | NAME "." PART | NAME "." QUOTED
text     = a word or a quoted text that is searched for
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from fairtrial.model.errors import UsageError
from fairtrial.query.expression import And, Compare, Contains, Expression, Is, Not, Operator, Or
from fairtrial.query.tokens import Sort, Token, at_column, tokens
from fairtrial.query.values import NONE, OPERATORS, value_of
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

DEEPEST: Final = 20
"""How deep brackets and `not` may nest; databases have limits of their own, not much beyond."""
MOST_PARTS: Final = 100
"""How many comparisons, properties and texts a filter may have, the values of `in` each."""

_KEYWORDS: Final = ("and", "or", "not", "in")


def parse(text: str, vocabulary: Vocabulary, now: datetime) -> Expression:
    """Return what a filter says.

    Args:
        text: What the user wrote.
        vocabulary: What it may name.
        now: What ages such as `14d` count back from (UTC).

    Raises:
        UsageError: it says nothing, or cannot be understood; the message points at the column.
    """
    if not text.strip():
        raise UsageError("the filter is empty", fix="leave it out to see everything")
    return _Parser(text, vocabulary, now).whole()


class _Parser:
    def __init__(self, text: str, vocabulary: Vocabulary, now: datetime) -> None:
        self._text = text
        self._vocabulary = vocabulary
        self._now = now
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0
        self._parts = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _sees(self, sort: Sort) -> bool:
        return self._tokens[self._at].sort is sort

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _wrong(self, what: str, token: Token, fix: str | None = None) -> UsageError:
        return at_column(what, self._text, token.start, fix)

    def whole(self) -> Expression:
        found = self._any()
        if not self._sees(Sort.END):
            raise self._wrong(f"{self._next.text!r} is not expected here", self._next)
        return found

    def _any(self) -> Expression:
        parts = [self._all()]
        while self._keyword("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self) -> Expression:
        parts = [self._not()]
        while self._keyword("and") or self._starts_something():
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _starts_something(self) -> bool:
        token = self._next
        if token.sort is Sort.WORD:
            return token.text.lower() != "or"
        return token.sort in (Sort.OPEN, Sort.QUOTED)

    def _keyword(self, word: str) -> bool:
        token = self._next
        if token.sort is Sort.WORD and token.text.lower() == word:
            self._at += 1
            return True
        return False

    def _not(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"nested deeper than {DEEPEST}", self._next)
        try:
            return Not(self._not()) if self._keyword("not") else self._primary()
        finally:
            self._depth -= 1

    def _count(self, token: Token) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise self._wrong(f"a filter has {MOST_PARTS} comparisons at most", token)

    def _primary(self) -> Expression:
        token = self._named()
        if token.sort is not Sort.OPEN:
            self._count(token)
        if token.sort is Sort.OPEN:
            found = self._any()
            if not self._sees(Sort.CLOSE):
                raise self._wrong("a bracket is never closed", token)
            self._at += 1
            return found
        if token.sort is Sort.QUOTED:
            return Contains(token.text)
        if token.sort is not Sort.WORD or token.text.lower() in _KEYWORDS:
            raise self._wrong(self._missing(token), token)
        if token.text.startswith("is:"):
            return self._is(token)
        if self._sees(Sort.OPERATOR):
            return self._compare(token)
        if self._sees(Sort.WORD) and self._next.text.lower() in ("in", "not"):
            return self._maybe_in(token)
        return Contains(token.text)

    @staticmethod
    def _missing(token: Token) -> str:
        if token.sort is Sort.END:
            return "something is missing at the end"
        return f"a field, is:PROPERTY or a text is expected, not {token.text!r}"

    def _is(self, token: Token) -> Expression:
        word = token.text.removeprefix("is:")
        known = self._vocabulary.properties
        if word not in known:
            what = f"{self._vocabulary.of} have no property {word!r}"
            raise self._wrong(what, token, _nearest(word, known, "is:"))
        return Is(word)

    def _field(self, token: Token) -> tuple[str, str | None, Field]:
        fields = self._vocabulary.fields
        name, dot, key = token.text.partition(".")
        if token.text in fields and not fields[token.text].keyed:
            return token.text, None, fields[token.text]
        if name in fields and fields[name].keyed:
            return name, self._key(token, name, key if dot else None), fields[name]
        raise self._wrong(
            f"{self._vocabulary.of} have no field {token.text!r}",
            token,
            _nearest(token.text, fields, ""),
        )

    def _key(self, token: Token, name: str, key: str | None) -> str | None:
        field = self._vocabulary.fields[name]
        if key is None and field.whole:
            return None
        known = field.keys
        if not key:
            fix = f"known: {', '.join(known)}" if known else None
            raise self._wrong(f"say which {name}: {name}.NAME", token, fix)
        if known and key not in known:
            what = f"{self._vocabulary.of} have no {name} {key!r}"
            raise self._wrong(what, token, _nearest(key, known, f"{name}."))
        return key

    def _named(self) -> Token:
        """Take a word; a part of a field may be quoted: `score."my grader"`."""
        token = self._take()
        if token.sort is not Sort.WORD or not token.text.endswith("."):
            return token
        following = self._next
        if following.sort is Sort.QUOTED and following.start == token.end:
            self._at += 1
            return Token(Sort.WORD, token.text + following.text, token.start, following.end)
        return token

    def _compare(self, token: Token) -> Expression:
        name, key, field = self._field(token)
        sign = self._take()
        operator = Operator.EQUAL if sign.text == "==" else Operator(sign.text)
        if operator not in OPERATORS[field.kind]:
            known = " ".join(sorted(OPERATORS[field.kind]))
            what = (
                f"{operator.value} makes no sense for {token.text}, which is a {field.kind.value}"
            )
            raise self._wrong(what, sign, f"one of: {known}")
        return self._held_against(name, key, field, operator)

    def _held_against(
        self, name: str, key: str | None, field: Field, operator: Operator
    ) -> Compare:
        token = self._take()
        if token.sort not in (Sort.WORD, Sort.QUOTED):
            shown = "the end" if token.sort is Sort.END else repr(token.text)
            raise self._wrong(f"a value is expected after {operator.value}, not {shown}", token)
        if token.sort is Sort.WORD and token.text.lower() == NONE:
            if operator not in (Operator.EQUAL, Operator.NOT_EQUAL):
                raise self._wrong("none is only = or !=", token)
            return Compare(name, key, operator, None)
        if field.kind is Kind.WORD and field.words and token.text not in field.words:
            what = f"{name} is never {token.text!r}"
            raise self._wrong(what, token, f"one of: {', '.join(field.words)}")
        try:
            return Compare(name, key, operator, value_of(token.text, field.kind, self._now))
        except ValueError as error:
            raise self._wrong(str(error), token) from None

    def _maybe_in(self, token: Token) -> Expression:
        start = self._at
        negated = self._keyword("not")
        if not self._keyword("in") or not self._sees(Sort.OPEN):
            self._at = start
            return Contains(token.text)
        name, key, field = self._field(token)
        self._at += 1
        parts: list[Expression] = [self._held_against(name, key, field, Operator.EQUAL)]
        while self._sees(Sort.COMMA):
            self._at += 1
            self._count(self._next)
            parts.append(self._held_against(name, key, field, Operator.EQUAL))
        if not self._sees(Sort.CLOSE):
            raise self._wrong("a comma or ) is expected", self._next)
        self._at += 1
        found = parts[0] if len(parts) == 1 else Or(tuple(parts))
        return Not(found) if negated else found


def _nearest(word: str, known: Iterable[str], prefix: str) -> str:
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"did you mean {prefix}{close[0]}?"
    return f"known: {', '.join(prefix + name for name in names)}" if names else "there are none"
