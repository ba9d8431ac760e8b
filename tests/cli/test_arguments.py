"""A plain line is read as the whole parser would read it, without that parser."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.app.verbs import VERBS, Verb, find_verb
from fairtrial.cli import parsing
from fairtrial.cli.arguments import Arguments, arguments_of
from fairtrial.model.errors import UsageError

_WORDS = st.lists(
    st.sampled_from(
        ["a", "b:c", "x y", "=", "é", "spec.yaml", "", "-", "--", "--json", "--n", "-1"]
    ),
    max_size=4,
)


def _read(read: Callable[[Verb, Sequence[str]], Arguments], verb: Verb, words: list[str]) -> object:
    try:
        return read(verb, words)
    except UsageError as error:
        return str(error)


@given(st.sampled_from(VERBS), _WORDS)
def test_both_ways_of_reading_agree(verb: Verb, words: list[str]) -> None:
    assert _read(arguments_of, verb, words) == _read(parsing.parse, verb, words)


@pytest.mark.parametrize("words", [["a", "b"], ["a", "--json", "b"]])
def test_a_plain_line_does_without_the_parser(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(parsing, "parse")
    verb = find_verb(("exp", "compare"))
    assert verb is not None
    assert arguments_of(verb, words) == Arguments({"a": "a", "b": "b"}, json="--json" in words)
