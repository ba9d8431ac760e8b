"""How wide text is before any font is known, and text that fits."""

from __future__ import annotations

import unicodedata

from fairtrial.interchange.experiment_exports.visible_text import one_line

# Shares of the font size, from a wide font (DejaVu Sans): text in another one only gets narrower.
_NARROW, _USUAL, _WIDE, _FULL = 0.42, 0.64, 0.95, 1.05
_NARROW_CHARACTERS = frozenset(" !'(),.:;I[]`fijlrt|")
_WIDE_CHARACTERS = frozenset("%@MWmw…")
_LONGEST = 400


def width_of(text: str, size: float) -> float:
    """Return how wide text is at most, in pixels."""
    return size * sum(_share(char) for char in text)


def fitted(text: str, size: float, room: float) -> str:
    """Return text on one line, without hidden characters, cut to a width in pixels."""
    line = one_line(text, _LONGEST)
    if width_of(line, size) <= room:
        return line
    kept = room - width_of("…", size)
    used = 0.0
    for place, char in enumerate(line):
        used += size * _share(char)
        if used > kept:
            return line[:place].rstrip() + "…"
    return line


def _share(char: str) -> float:
    if char in _NARROW_CHARACTERS:
        return _NARROW
    if char in _WIDE_CHARACTERS:
        return _WIDE
    if char < "\u0300":
        return _USUAL
    if unicodedata.combining(char):
        return 0.0
    return _FULL if unicodedata.east_asian_width(char) in "WF" else _USUAL
