"""The beginning of a long text, for a one-line message."""

from __future__ import annotations

EXCERPT = 200
"""How many characters of an answer a message shows."""


def excerpt(text: str | bytes, most: int = EXCERPT) -> str:
    """Return the first characters of a text on one line; `(empty)` when there are none."""
    if isinstance(text, bytes):
        text = text[: 4 * most + 4].decode("utf-8", "replace")
    shown = " ".join(text[: most + 1].split())
    if not shown:
        return "(empty)"
    return shown if len(text) <= most else shown[:most] + "…"
