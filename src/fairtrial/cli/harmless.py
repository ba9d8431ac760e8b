"""Text from outside, made harmless for a terminal. Loads no library: errors are told with it."""

from __future__ import annotations

import unicodedata

HARMFUL = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Unicode categories: control, format, surrogate, private use, line and paragraph separators."""
_LONGEST = 2_000
"""Characters of a line of an error: what was typed or read may be endless."""


def harmless(text: str) -> str:
    """Return text in which no character can move the cursor, recolour or reorder a terminal.

    Control and format characters become their escapes: an output, a case id or a reason may come
    from a model that was told to do harm.
    """
    return "".join(
        char if unicodedata.category(char) not in HARMFUL else _escape(char) for char in text
    )


def harmless_lines(text: str) -> str:
    """Return text of several lines, each made harmless and cut where it is endless."""
    shown = (harmless(line[: _LONGEST + 1]) for line in text.split("\n"))
    return "\n".join(line if len(line) <= _LONGEST else line[:_LONGEST] + "…" for line in shown)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
