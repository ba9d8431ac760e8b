"""The words of a line that is being typed."""

from __future__ import annotations

import pytest

from fairtrial.cli.completion.words import typed


@pytest.mark.parametrize(
    ("line", "words", "current", "quote"),
    [
        ("", [], "", ""),
        ("fairtrial", [], "fairtrial", ""),
        ("fairtrial exp ", ["fairtrial", "exp"], "", ""),
        ("fairtrial -w 'a b' c", ["fairtrial", "-w", "a b"], "c", ""),
        ('fairtrial -w "a \\"b', ["fairtrial", "-w"], 'a "b', '"'),
        ("fairtrial -w 'a\\", ["fairtrial", "-w"], "a\\", "'"),
        ("fairtrial a\\ b", ["fairtrial"], "a b", ""),
        ("ls | fairtrial exp", ["fairtrial"], "exp", ""),
        ("ls '|' x", ["ls", "|"], "x", ""),
        ("fairtrial ''", ["fairtrial"], "", ""),
        ("fairtrial a\\", ["fairtrial"], "a", ""),
    ],
)
def test_a_line_is_split_as_a_shell_would(
    line: str, words: list[str], current: str, quote: str
) -> None:
    found = typed(line)
    assert (list(found.words), found.current, found.quote) == (words, current, quote)
