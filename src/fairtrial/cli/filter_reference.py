# ruff: noqa: E501  # a paragraph of the page is a line
"""The reference page of filters, made from the vocabularies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fairtrial.query.values import OPERATORS
from fairtrial.query.vocabularies import VOCABULARIES
from fairtrial.query.vocabulary import Field, Kind, Vocabulary

_WHERE = {
    "sessions": "`sessions list`, `stats`, `flags`, `export` and `rm`",
    "experiments": "`exp list`",
    "rows": "`exp show` (which lists the rows then) and `exp export` as jsonl or csv. The baseline "
    "is what `exp show` compares the experiment with; without one, `delta`, `is:regressed` and "
    "their like are refused",
    "calls": "`calls list`",
}
_GRAMMAR = """```text
filter  = either
either  = both ("or" both)*
both    = one (["and"] one)*
one     = "not" one | "(" either ")" | "is:" PROPERTY | compare | search
compare = FIELD OPERATOR VALUE | FIELD ["not"] "in" "(" VALUE ("," VALUE)* ")"
FIELD   = NAME | NAME.PART | NAME."PART"
search  = a word, or a text in quotes
```"""
_RULES = """- **Beside each other** is `and`: `is:failed tag = billing`. `and` binds closer than `or`, `not` closer than both; `and`, `or`, `not` and `in` may be written in capitals.
- **Values** with blanks, brackets, commas or operators stand in quotes, `"…"` or `'…'`; a backslash escapes the next character.
- **At most** 100 comparisons, the values of `in` counted each, and 20 brackets and `not` within each other.
- **Numbers**: `1`, `0.8`, `80%`, `20k`, `1.5M`, `$0.5`.
- **Moments**: `2026-11-29`, `2026-11-29T14:00` (UTC unless it says otherwise), or an age: `14d` is 14 days ago, so `created > 14d` is in the last 14 days. Units are `s`, `m`, `h`, `d`, `w`, `mo` (30 days) and `y` (365 days).
- **Texts** are compared exactly with `=` and `!=`; `~` and `!~` look for a part, without regard to the case of a–z.
- **No value** is written `none`: `cost = none`. What has no value meets no comparison but `!=`; so `cost != 1` finds what has no cost, and `cost > 1` does not. `not` turns that round: `not cost > 1` finds what costs no more, and what has no cost. Nothing is left out of both a filter and its opposite.
- **Where several values are meant**, such as tags, flags or arms, a comparison holds when it does for one of them; `!=` and `!~` when it does for none."""


def filters_page(page: Callable[..., str], table: Callable[..., str]) -> str:
    """Return the page.

    Args:
        page: Makes a page of a title and parts.
        table: Makes a table of columns and rows.
    """
    return page(
        "# Filters",
        "`--where` takes a filter, the same language for everything. It compares fields, names "
        "properties and searches for text:",
        "```sh\n"
        'fairtrial exp list --where "score.exact < 0.8 and environment = ci"\n'
        'fairtrial exp show smoke --where "is:failed and tag = billing"\n'
        'fairtrial calls list --where "is:failed or duration > 30"\n'
        'fairtrial sessions list --where "is:flagged and repo = shop and ended > 14d"\n'
        "```",
        "A mistake is pointed at, with the nearest name that exists. "
        "[Shells complete filters](../how-to/complete-in-a-shell.md) while they are typed.",
        "## Grammar",
        _GRAMMAR,
        _RULES,
        "## Operators",
        table(
            ("values", "operators"),
            [(kind.value, _code(sorted(OPERATORS[kind]))) for kind in _kinds()],
        ),
        *(part for found in VOCABULARIES.values() for part in _vocabulary(found, table)),
    )


def _kinds() -> Sequence[Kind]:
    """Return the kinds that some field has."""
    used = {field.kind for found in VOCABULARIES.values() for field in found.fields.values()}
    return [kind for kind in OPERATORS if kind in used]


def _vocabulary(found: Vocabulary, table: Callable[..., str]) -> Sequence[str]:
    return (
        f"## {found.of.capitalize()}",
        f"For {_WHERE[found.of]}.",
        table(
            ("field", "values", "meaning"),
            [(_name(n, f), _kind(f), f.doc.replace("|", "\\|")) for n, f in found.fields.items()],
        ),
        table(
            ("property", "holds when"),
            [(f"`is:{name}`", doc) for name, doc in found.properties.items()],
        ),
    )


def _name(name: str, field: Field) -> str:
    forms = [f"`{name}`"] if not field.keyed or field.whole else []
    return ", ".join([*forms, *([f"`{name}.NAME`"] if field.keyed else [])])


def _kind(field: Field) -> str:
    return _code(field.words) if field.words else field.kind.value


def _code(words: Sequence[str]) -> str:
    return " ".join(f"`{word}`" for word in words)
