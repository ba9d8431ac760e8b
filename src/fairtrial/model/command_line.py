"""Command lines that reports offer to be typed."""

from __future__ import annotations

import shlex


def option(flag: str, value: str) -> str:
    r"""Return an option as it is typed in a shell, e.g. `--case c17`.

    A value that could be taken for another option follows an `=`. One that cannot be shown as it
    is, such as a line break, is written as `$'…'`, which all shells but the plainest read.
    """
    return f"{flag}{'=' if value.startswith('-') else ' '}{_word(value)}"


def _word(text: str) -> str:
    if text.isprintable():
        return shlex.quote(text)
    shown = (
        ("\\" + char if char in "\\'" else char) if char.isprintable() else _escaped(char)
        for char in text
    )
    return f"$'{''.join(shown)}'"


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
