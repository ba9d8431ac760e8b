"""Makes text of unknown origin safe to show: nothing in it is invisible, reordered or endless.

Outputs are written by models and programs under test; some will try to look like something else.
"""

from __future__ import annotations

import json
import re

from fairtrial.model.json import Json

# Controls but tab and newline, marks that hide or reorder text, halves of surrogate pairs and
# non-characters: what XML and HTML forbid, and what makes a page say other than its source.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return text with hidden characters as escapes, e.g. a right-to-left mark as `\u200f`."""
    if text.isprintable():  # true of no hidden character, and much faster
        return text
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int) -> str:
    """Return visible text on one line, cut to `limit` characters."""
    return shortened(" ".join(visible(text[: limit * 4]).split()), limit)


def preview(value: Json, limit: int) -> str:
    """Return a JSON value for people: a text as it is, anything else indented, cut to `limit`."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    cut = visible(text[:limit])
    left = len(text) - limit
    return f"{cut}\n… {left:,} more characters" if left > 0 else cut


def shortened(text: str, limit: int) -> str:
    """Return text, cut to `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
