"""Whether a sentence says less strictly what another one said.

English only, and by words: a rule looks for what is commonly written, and proves no meaning. What
no rule knows is still told, as reworded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Words: TypeAlias = Sequence[str]

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+n't|[a-z]+|[<>]=?|%")
_AT_MOST: Final = re.compile(r"\bat most\b")
_CONTRACTED: Final = {"won't": "will not", "can't": "can not", "cannot": "can not"}
_NEGATIONS: Final = frozenset({"not", "never", "no", "none", "neither", "nor", "nothing", "nobody"})
_EXCEPTIONS: Final = (
    *("unless", "except", "excepting", "excluding", "save for", "other than", "apart from"),
    *("aside from", "with the exception of", "if needed", "if necessary"),
)
_SOFTENERS: Final = (
    *("if possible", "when possible", "where possible", "whenever possible", "as far as possible"),
    *("if convenient", "when convenient", "if practical", "when practical", "where practical"),
    *("if you can", "when you can", "if you like", "if time permits", "when time permits"),
    *("try to", "aim to", "ideally", "preferably", "feel free", "optionally", "as needed"),
    *("if appropriate", "when appropriate", "where appropriate", "at your discretion"),
    *("if feasible", "when feasible", "where feasible", "as a guideline", "in general"),
)
_CONDITIONS: Final = (
    *("if", "when", "whenever", "where", "while", "once", "in case", "provided", "as long as"),
    *("only for", "only in", "only on"),
)
_WEAK: Final = frozenset(
    {"usually", "generally", "normally", "typically", "mostly", "often", "sometimes", "should"}
    | {"most", "some", "several", "many", "try", "ideally", "preferably", "may", "can", "without"}
)
"""Words without which a sentence says more, not less."""
_AT_LEAST: Final = ("at least", "minimum", "no fewer than", "no less than", "more than", "over")
_SMALL_NUMBERS: Final = {
    name: str(value)
    for value, name in enumerate(
        [
            *("zero", "one", "two", "three", "four", "five", "six"),
            *("seven", "eight", "nine", "ten", "eleven", "twelve"),
        ]
    )
}
_SECONDS: Final = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hour", "hours"), 3600.0),
    **dict.fromkeys(("day", "days"), 86400.0),
    **dict.fromkeys(("week", "weeks"), 604800.0),
    **dict.fromkeys(("month", "months"), 2592000.0),
    **dict.fromkeys(("year", "years"), 31536000.0),
}
_NEAR: Final = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """A way in which a sentence is relaxed.

    Attributes:
        name: What it is called.
        says: What it looks for, in one line.
        finds: Returns what was done, given the words before and after; None when it was not.
    """

    name: str
    says: str
    finds: Callable[[Words, Words], str | None]


def relaxed(old: str, new: str) -> tuple[str, str] | None:
    """Return the name of the first rule by which a sentence is relaxed, and what was done to it.

    Args:
        old: The sentence as it was.
        new: The sentence in its place.
    """
    before, after = words_of(old), words_of(new)
    for rule in RULES:
        found = rule.finds(before, after)
        if found is not None:
            return rule.name, found
    return None


def words_of(text: str) -> Words:
    """Return the words of a sentence in lower case, with contractions written out."""
    # "at most" limits; it is no weaker "all".
    plain = _AT_MOST.sub("atmost", text.lower().replace("\u2019", "'"))
    return tuple(word for found in _WORD.findall(plain) for word in _written_out(found))


def _written_out(word: str) -> Iterator[str]:
    whole = _CONTRACTED.get(word)
    if whole is None:
        whole = f"{word[:-3]} not" if word.endswith("n't") else _SMALL_NUMBERS.get(word, word)
    yield from whole.split()


def _places(words: Words, phrase: str) -> list[int]:
    """Return where a phrase stands among words."""
    sought = tuple(phrase.split())
    size = len(sought)
    return [n for n in range(len(words) - size + 1) if tuple(words[n : n + size]) == sought]


def _first_of(words: Words, phrases: Sequence[str]) -> str | None:
    return next((phrase for phrase in phrases if _places(words, phrase)), None)


def _scale(*steps: Sequence[str]) -> Callable[[Words, Words], str | None]:
    """Return a rule by phrases of falling strength: one of a lower step took the place of one."""

    def finds(before: Words, after: Words) -> str | None:
        strong = _strongest(before, steps)
        weak = _strongest(after, steps)
        if strong is None or weak is None or weak[0] <= strong[0]:
            return None
        return f"{strong[1]} became {weak[1]}"

    return finds


def _strongest(words: Words, steps: Sequence[Sequence[str]]) -> tuple[int, str] | None:
    for number, phrases in enumerate(steps):
        found = _first_of(words, phrases)
        if found is not None:
            return number, found
    return None


def _obligation(before: Words, after: Words) -> str | None:
    """Find what had to be done and no longer has to; what must not be done is no obligation."""
    steps = (
        ("must", "shall", "required", "have to", "has to", "need to", "mandatory"),
        ("should", "ought to", "recommended", "expected to"),
        ("may", "can", "could", "might", "consider", "prefer", "optional"),
    )
    return _scale(*steps)(_affirmed(before), _affirmed(after))


def _affirmed(words: Words) -> Words:
    return [
        word for word, following in zip(words, (*words[1:], ""), strict=True) if following != "not"
    ]


def _prohibition(before: Words, after: Words) -> str | None:
    """Find what was forbidden and is discouraged, or no more than that."""
    steps = (
        (
            "never",
            "must not",
            "do not",
            "does not",
            "may not",
            "can not",
            "forbidden",
            "prohibited",
        ),
        ("should not", "ought not", "avoid", "rarely", "seldom", "hardly ever", "not usually"),
        ("try not", "prefer not", "better not", "discouraged"),
    )
    return _scale(*steps)(before, after)


def _negation(before: Words, after: Words) -> str | None:
    """Find a negation that is gone."""
    gone = [word for word in before if word in _NEGATIONS]
    left = [word for word in after if word in _NEGATIONS]
    if len(left) >= len(gone) or _first_of(after, ("avoid", "forbidden", "prohibited", "refuse")):
        return None
    word = next((word for word in gone if word not in left), gone[0])
    return f"the word {word!r} is gone"


def _exception(before: Words, after: Words) -> str | None:
    """Find an exception that is new, or covers more."""
    forbids = any(word in _NEGATIONS for word in before)
    if forbids and after.count("without") > before.count("without"):
        return "an exception was added: without …"
    for phrase in _EXCEPTIONS:
        had, has = _places(before, phrase), _places(after, phrase)
        if len(has) > len(had):
            others = sum(len(_places(before, other)) for other in _EXCEPTIONS)
            if others < sum(len(_places(after, other)) for other in _EXCEPTIONS):
                return f"an exception was added: {phrase} …"
        if had and has:
            old, new = before[had[0] :], after[has[0] :]
            if len(new) > len(old) and set(old) < set(new):
                more = [word for word in new if word not in old]
                return f"the exception covers more: {' '.join(more)}"
    return None


def _softened(before: Words, after: Words) -> str | None:
    added = next(
        (one for one in _SOFTENERS if len(_places(after, one)) > len(_places(before, one))), None
    )
    return None if added is None else f"{added!r} was added"


def _condition(before: Words, after: Words) -> str | None:
    """Find a condition where there was none of its kind."""
    added = next(
        (one for one in _CONDITIONS if len(_places(after, one)) > len(_places(before, one))), None
    )
    had = sum(len(_places(before, one)) for one in _CONDITIONS)
    has = sum(len(_places(after, one)) for one in _CONDITIONS)
    return f"a condition was added: {added} …" if has > had else None


def _shortened(before: Words, after: Words) -> str | None:
    """Find that words were only taken out, and none that made the sentence weaker."""
    rest = iter(before)
    if len(after) >= len(before) or not after or not all(word in rest for word in after):
        return None
    gone = list(before)
    for word in after:
        gone.remove(word)
    weaker = _first_of(before, (*_EXCEPTIONS, *_SOFTENERS, *_CONDITIONS))
    if weaker is not None or not _WEAK.isdisjoint(gone):
        return None
    return f"taken out: {' '.join(gone)}"


@dataclass(frozen=True, slots=True)
class _Number:
    said: str
    value: float
    unit: str
    least: bool


def _numbers(words: Words) -> list[_Number]:
    found = []
    for place, word in enumerate(words):
        if not word[0].isdigit():
            continue
        value = _value(word)
        if value is None:
            continue
        unit = words[place + 1] if place + 1 < len(words) else ""
        near = words[max(0, place - _NEAR) : place]
        least = _first_of(near, _AT_LEAST) is not None or (bool(near) and near[-1] in (">", ">="))
        least = least and not (_first_of(near, ("no more than", "not more than", "not over")))
        if unit in _SECONDS:
            found.append(_Number(f"{word} {unit}", value * _SECONDS[unit], "s", least))
        else:
            found.append(_Number(word, value, "", least))
    return found


def _value(word: str) -> float | None:
    try:
        return float(word.replace(",", ""))
    except ValueError:  # a version, a date
        return None


def _number(before: Words, after: Words) -> str | None:
    """Find a limit that was raised, or a minimum that was lowered."""
    old, new = _numbers(before), _numbers(after)
    if len(old) != len(new):
        return None
    for was, now in zip(old, new, strict=True):
        if was.unit != now.unit:
            continue
        if was.least and now.least and now.value < was.value:
            return f"the minimum fell from {was.said} to {now.said}"
        if was.least and not now.least and now.value <= was.value:
            return f"at least {was.said} became {now.said}"
        if not was.least and now.value > was.value:
            return f"the limit rose from {was.said} to {now.said}"
    return None


def _order(before: Words, after: Words) -> str | None:
    """Find what was to come first, and is to come afterwards."""
    for first, later in (("before", "after"), ("first", "afterwards"), ("first", "later")):
        fewer = len(_places(after, first)) < len(_places(before, first))
        if fewer and len(_places(after, later)) > len(_places(before, later)):
            return f"{first} became {later}"
    return None


def _either(before: Words, after: Words) -> str | None:
    """Find that one of several is enough where all were asked for."""
    if any(word in _NEGATIONS for word in before):
        return None
    fewer = before.count("and") > after.count("and")
    return "and became or" if fewer and after.count("or") > before.count("or") else None


def _only(before: Words, after: Words) -> str | None:
    gone = before.count("only") > after.count("only")
    return "the word 'only' is gone" if gone else None


RULES: Final[tuple[Rule, ...]] = (
    Rule(
        "obligation",
        "`must`, `shall`, `required`, `have to` → `should`, `ought to` → `may`, `can`, `consider`",
        _obligation,
    ),
    Rule(
        "prohibition",
        "`never`, `must not`, `do not`, `forbidden` → `should not`, `avoid` → `try not to`",
        _prohibition,
    ),
    Rule(
        "frequency",
        "`always`, `every time` → `usually`, `generally`, `normally` → `often` → `sometimes`",
        _scale(
            ("always", "every time", "without exception", "whenever", "each time"),
            ("usually", "generally", "normally", "typically", "mostly", "almost always"),
            ("often", "frequently"),
            ("sometimes", "occasionally", "now and then", "rarely"),
        ),
    ),
    Rule(
        "quantity",
        "`all`, `every`, `each`, `any` → `most` → `many`, `some`, `several`",
        _scale(
            ("all", "every", "each", "any", "entire", "whole", "everything"),
            ("most", "nearly all", "majority"),
            ("many", "some", "several", "a few", "important", "relevant"),
        ),
    ),
    Rule("negation", "a `not`, `never` or `no` is gone", _negation),
    Rule(
        "exception",
        "`unless`, `except`, `other than` was added or covers more; `without` in what is forbidden",
        _exception,
    ),
    Rule(
        "softener", "`if possible`, `when convenient`, `try to` and the like were added", _softened
    ),
    Rule("condition", "`if`, `when`, `in case`, `as long as` were added", _condition),
    Rule("number", "a limit was raised, or a minimum (`at least`) lowered; units count", _number),
    Rule(
        "deadline",
        "`immediately`, `at once` → `soon`, `promptly` → `later`, `eventually`",
        _scale(
            ("immediately", "at once", "right away", "now", "straight away", "first thing"),
            ("soon", "promptly", "as soon as", "shortly"),
            ("later", "eventually", "at some point", "in time", "when there is time"),
        ),
    ),
    Rule("order", "`before` → `after`, `first` → `later`", _order),
    Rule("alternative", "`and` → `or`, where nothing is forbidden", _either),
    Rule("only", "an `only` is gone", _only),
    Rule("shortened", "words were only taken out, and none that made it weaker", _shortened),
)
"""The rules, in the order in which they are tried."""
