"""Lines, sections and tables of a report. Whatever came from outside is made harmless here."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fairtrial.cli.harmless import harmless

_ENDLESS = 100_000
"""A width that no table reaches."""


def line(console: Console, text: str, style: str = "", *, cut: bool = False) -> None:
    """Print one line; with `cut`, what does not fit is left out, else it wraps."""
    content = Text(harmless(text), style=style)
    if cut:
        console.print(content, no_wrap=True, overflow="ellipsis")
    else:
        console.print(content, soft_wrap=True)


def block(console: Console, text: str, indent: str = "    ") -> None:
    """Print text of several lines, indented."""
    for part in text.split("\n") or [""]:
        console.print(Text(indent + harmless(part)), soft_wrap=True)


def section(console: Console, title: str) -> None:
    """Print an empty line and a title."""
    console.print()
    line(console, title, "bold")


def more(console: Console, left: int) -> None:
    """Say how many entries a list left out."""
    if left > 0:
        line(console, f"  … and {left:,} more", "dim")


def table(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: a column whose name starts with `>` is aligned to the right.

    The first column names the row and is never broken: it is there to be copied. In a pipe or a
    file no line is broken, however long: what reads it there goes by lines.
    """
    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for position, column in enumerate(columns):
        justify = "right" if column.startswith(">") else "left"
        shown.add_column(
            harmless(column.removeprefix(">")),
            justify=justify,  # type: ignore[arg-type]
            overflow="fold",
            no_wrap=position == 0,
        )
    for row in rows:
        shown.add_row(*(Text(harmless(cell)) for cell in row))
    if not console.is_terminal and "COLUMNS" not in os.environ:
        width, console.width = console.width, _ENDLESS
        console.print(shown)
        console.width = width
    else:
        console.print(shown)
