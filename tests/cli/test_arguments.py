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
from fairtrial.schema.fields import options_of

_WORDS = st.sampled_from(["a", "b:c", "x y", "=", "é", "spec.yaml", "", "-", "--", "--n", "-1"])


def _read(read: Callable[[Verb, Sequence[str]], Arguments], verb: Verb, words: list[str]) -> object:
    try:
        return read(verb, words)
    except UsageError as error:
        return str(error)


@given(st.data(), st.sampled_from(VERBS))
def test_both_ways_of_reading_agree(data: st.DataObject, verb: Verb) -> None:
    flags = [option.flag for option in options_of(verb.request())]
    line = st.lists(st.one_of(_WORDS, st.sampled_from([*flags, "--json"])), max_size=5)
    words = data.draw(line)
    assert _read(arguments_of, verb, words) == _read(parsing.parse, verb, words)


@pytest.mark.parametrize("words", [["a", "b"], ["a", "--json", "b"]])
def test_a_plain_line_does_without_the_parser(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(parsing, "parse")
    verb = find_verb(("exp", "compare"))
    assert verb is not None
    assert arguments_of(verb, words) == Arguments({"a": "a", "b": "b"}, json="--json" in words)


def test_a_flag_with_a_text_does_without_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(parsing, "parse")
    verb = find_verb(("sessions", "sync"))
    assert verb is not None
    words = ["--agent", "codex", "--json"]
    assert arguments_of(verb, words) == Arguments({"agent": "codex"}, json=True)
