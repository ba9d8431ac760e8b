"""Pieces of one-line messages that several kinds need."""

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


def over_limit(limit_s: float | None) -> str:
    """Return the reason of a call that ran over its time limit."""
    return f"over the time limit of {round(limit_s or 0.0, 2):g} s"
