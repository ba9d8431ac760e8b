"""Pieces of one-line messages that several kinds need."""

from __future__ import annotations

import reprlib

from fairtrial.model.json import Json

EXCERPT = 200
"""How many characters of an answer a message shows."""
_SHORT = 60


class _Shortened(reprlib.Repr):
    """JSON values in a few characters, however large or deep they are."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = _SHORT + 2
        self.maxother = _SHORT
        self.maxlong = 25

    def repr_NoneType(self, _value: None, _level: int) -> str:  # noqa: N802  # reprlib's naming
        return "null"

    def repr_bool(self, value: bool, _level: int) -> str:  # noqa: FBT001  # reprlib's signature
        return "true" if value else "false"

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to write integers of more than some thousand digits.
        return (
            f"{value:#x}"[:12] + "…"
            if value.bit_length() > 1000
            else super().repr_int(value, level)
        )


_SHORTENED = _Shortened()


def shown(value: Json) -> str:
    """Return a value in at most a hundred characters or so."""
    return _SHORTENED.repr(value)


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


def usd(amount: float) -> str:
    """Return US dollars with as many digits as matter."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.2g}" if amount >= 1e-4 else "less than $0.0001"
