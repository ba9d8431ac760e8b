"""Templates are strict about names, harmless, and bounded."""

from __future__ import annotations

import time
from typing import Any

import pytest

from fairtrial.tasks.prompt_template import Template, TemplateProblemError

DOUBLING = (
    "{{% set n = namespace(x='ab') %}}"
    "{{% for i in range(60) %}}{{% set n.x = n.x {} n.x %}}{{% endfor %}}"
)
HOARDING = (
    "{% set n = namespace(x=[]) %}{% for i in range(999) %}"
    "{% set n.x = n.x + ['x' * 9999999] %}{% endfor %}"
)
VALUES = {"input": {"items": [1, 2], "keys": "k", "q": "<é>", "none": None}, "tags": ["a"]}


def filled(source: str, **more: Any) -> str:
    return Template(source, "template").fill({**VALUES, **more})


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ input.q }}", "<é>"),
        ("{{ input.keys }} {{ input['items'] }}", "k [1,2]"),
        ("{{ input.items[1] }}", "2"),
        ("{{ input.none }} {{ true }} {{ 1.5 }}", "null true 1.5"),
        ("{{ input | tojson }}", '{"items": [1, 2], "keys": "k", "q": "<é>", "none": null}'),
        ("{{ tags | tojson(indent=1) }}", '[\n "a"\n]'),
        ("{{ 'a' ~ 1 ~ none ~ input.items }}", "a1null[1,2]"),
        ("{{ x | default('d') }}", "d"),
        ("{% for x in input.items %}{{ loop.index }}:{{ x }} {% endfor %}", "1:1 2:2 "),
        ("{% for x in [] %}x{% else %}none{% endfor %}", "none"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(1) }}{{ m('b' ~ 2) }}", "<1><b2>"),
        ("{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}c{% endcall %}", "[c]"),
        ("{% filter upper %}a{{ 'b' ~ 1 }}{% endfilter %}", "AB1"),
        ("{{ 2 ** 8 }} {{ 'ab' * 2 }} {{ 2 * 'ab' }} {{ '%s-' % 1 }} {{ [1] + [2] }}", None),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        ("{{ 'a' | center(3) }}{{ 'b'.ljust(3) }}{{ '7'.zfill(2) }}|", " a b  07|"),
        ("{{ input['items'] | join(', ') }} {{ '-'.join(tags) }}", "1, 2 a"),
        ("{{ '%s=%d' | format('a', 1) }} {{ '{}:{n}'.format('b', n=2) }}", "a=1 b:2"),
        ("{{ 'a b' | replace(' ', '_') }} {{ 'a\nb' | indent(2) }}", "a_b a\n  b"),
        ("{{ 2.567 | round(1) }} {{ [1, 2, 3] | batch(2) | list }}", "2.6 [[1,2],[3]]"),
        ("é{# a comment #}", "é"),
    ],
)
def test_what_templates_can_do(source: str, text: str | None) -> None:
    assert filled(source) == (text or "256 abab abab 1- [1,2]")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("a\n\n{{ missing }}", "template, line 3: 'missing' is undefined"),
        ("{{ input.missing }}", "template, line 1: 'dict object' has no attribute 'missing'"),
        ("{{ 'a' ~ missing }}", "template, line 1: 'missing' is undefined"),
        ("{% for x in tags %}\n{{ y }}{% endfor %}", "template, line 2: 'y' is undefined"),
        ("{{ 1 / 0 }}", "line 1: ZeroDivisionError"),
        ("{% include 'x' %}", "line 1: "),
        ("{{ ''.__class__ }}", "line 1: access to attribute '__class__'"),
        ("{{ input.items.append(3) }}", "line 1: access to attribute 'append'"),
        ("{{ input.update(a=1) }}", "line 1: access to attribute 'update'"),
    ],
)
def test_what_goes_wrong_is_told_with_its_line(source: str, problem: str) -> None:
    with pytest.raises(TemplateProblemError) as caught:
        filled(source)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("{% for a in range(999999999) %}{% endfor %}", "Range too big"),
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            "its loops take more than 200,000 rounds",
        ),
        (
            "{% macro f(n) %}{% if n < 60 %}{{ f(n+1)~f(n+1) }}{% endif %}{% endmacro %}{{ f(1) }}",
            "its loops take more than 200,000 rounds",
        ),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls itself too deeply"),
        ("{% for a in range(20000) %}{{ text }}{% endfor %}", "writes more than 10,000,000"),
        ("{{ 'x' * 10**10 }}", "longer than 10,000,000"),
        ("{{ 10**10 * [1] }}", "longer than 10,000,000"),
        ("{{ 10 ** (10 ** 10) }}", "a number that is too large"),
        ("{{ 10**1000 * 10**1000 }}", "a number that is too large"),
        ("{{ '%1000000000d' % 1 }}", "formats a value too widely"),
        ("{{ '%*d' % (10**9, 1) }}", "formats a value too widely"),
        ("{{ '%s%s' * 9999 % ((text * 999,) * 2 * 9999) }}", "longer than 10,000,000"),
        ("{{ '%1000000000d' | format(1) }}", "formats a value too widely"),
        ("{{ '{:>1000000000}'.format(1) }}", "formats a value too widely"),
        ("{{ '{:{}}'.format(1, 10**9) }}", "formats a value too widely"),
        ("{{ ('{0}' * 9999).format(text * 9999) }}", "longer than 10,000,000"),
        ("{{ 'x' | center(10**9) }}", "longer than 10,000,000"),
        ("{{ ['x'] | map('center', 10**9) | first }}", "longer than 10,000,000"),
        ("{{ 'x'.ljust(10**9) }}", "longer than 10,000,000"),
        ("{{ 'x'.zfill(10**9) }}", "longer than 10,000,000"),
        ("{{ '\t'.expandtabs(10**9) }}", "longer than 10,000,000"),
        ("{{ (1).to_bytes(10**9, 'big') }}", "longer than 10,000,000"),
        ("{{ 'x\nx' | indent(10**9) }}", "longer than 10,000,000"),
        ("{{ text | wordwrap(1, wrapstring=text * 9999) }}", "longer than 10,000,000"),
        ("{{ text | replace('x', text * 999) | replace('x', text) }}", "longer than 10,000,000"),
        ("{{ (text * 99).replace('', text) }}", "longer than 10,000,000"),
        ("{{ (text * 999).join(text) | length }}", "longer than 10,000,000"),
        ("{{ range(99999) | join(text) }}", "too long"),
        ("{{ text.translate({120: text * 9999}) }}", "prompts cannot use it"),
        ("{{ [1] | batch(10**9, 0) | list }}", "longer than 10,000,000"),
        ("{{ [1] | slice(10**9) | list }}", "longer than 10,000,000"),
        ("{{ [[1]] | tojson(indent=10**9) }}", "its number is larger than 100"),
        ("{{ 1.5 | round(10**9) }}", "its number is larger than 100"),
        ("{{ lipsum(n=100000) }}", "'lipsum' is undefined"),
        ("{{ range(999) | map('center', 999999) | list | length }}", "on the way"),
        (HOARDING, "on the way"),
        (DOUBLING.format("~"), "longer than 10,000,000"),
        (DOUBLING.format("+"), "longer than 10,000,000"),
    ],
)
def test_a_runaway_template_is_stopped(source: str, problem: str) -> None:
    start = time.monotonic()
    with pytest.raises(TemplateProblemError) as caught:
        filled(source, text="x" * 1_000)
    # On a busy machine the time limit may come before the limit of rounds.
    assert problem in str(caught.value) or "more than 2 s of computing" in str(caught.value)
    assert time.monotonic() - start < 30


def test_a_template_leaves_no_trace_for_the_next_filling() -> None:
    template = Template("{% for a in range(90000) %}{% endfor %}{{ x }}", "template")
    assert [template.fill({"x": x}) for x in (1, 2, 3)] == ["1", "2", "3"]


def test_deep_nesting_is_no_crash() -> None:
    with pytest.raises(TemplateProblemError, match=r"nested too deeply|line 1"):
        filled("{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}")
