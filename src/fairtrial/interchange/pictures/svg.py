"""A drawing: marks at places, written as SVG.

Colours stand in attributes, and a class says what each mark means: a page gives these classes its
own colours, and a file of its own carries a style for dark backgrounds. No mark needs a script or
anything from a network, and none has a `style` attribute, which a content security policy forbids.
"""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

from fairtrial.interchange.experiment_exports.visible_text import visible

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

LIGHT: Mapping[str, str] = {
    "page": "#ffffff",
    "ink": "#1c1f23",
    "soft": "#5c646d",
    "line": "#e2e4e7",
    "better": "#1a7f4b",
    "worse": "#c2303a",
    "unclear": "#5f6b7a",
    "first": "#2f6fde",
    "second": "#a15c00",
    "third": "#8a3ffc",
    "fourth": "#0f7b83",
    "fifth": "#b03a78",
}
"""Colours on white; each word for a colour is also the class of its marks."""

DARK: Mapping[str, str] = {
    "page": "#14161a",
    "ink": "#e7e9ec",
    "soft": "#9aa3ad",
    "line": "#30353d",
    "better": "#4cc38a",
    "worse": "#ff7b80",
    "unclear": "#a3adb9",
    "first": "#7fb0ff",
    "second": "#f0a94a",
    "third": "#b794ff",
    "fourth": "#52c7cf",
    "fifth": "#f08fc0",
}
SERIES = ("first", "second", "third", "fourth", "fifth")


class Drawing:
    """Marks on a sheet of a given width; its height grows with them.

    Args:
        width: Pixels.
        title: What the picture shows, for those who do not see it.
    """

    def __init__(self, width: int, title: str) -> None:
        self.width = width
        self.height = 0.0
        self._title = title
        self._marks: list[str] = []

    def text(
        self,
        at: tuple[float, float],
        text: str,
        colour: str = "ink",
        *,
        size: float = 12.0,
        anchor: str = "start",
        bold: bool = False,
    ) -> None:
        """Write a line whose baseline starts, ends (`end`) or has its `middle` at a place."""
        attributes = _places(x=at[0], y=at[1]) + f' font-size="{size:g}"'
        attributes += "" if anchor == "start" else f' text-anchor="{anchor}"'
        attributes += ' font-weight="600"' if bold else ""
        self._add("text", attributes, _fill(colour), escape(visible(text)), bottom=at[1])

    def line(
        self, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.0
    ) -> None:
        """Draw a straight line."""
        attributes = _places(x1=start[0], y1=start[1], x2=end[0], y2=end[1])
        self._add("line", attributes, _stroke(colour, width), bottom=max(start[1], end[1]))

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        colour: str,
        *,
        round_by: float = 0,
    ) -> None:
        """Fill a rectangle whose upper left corner is at a place."""
        attributes = _places(x=at[0], y=at[1], width=size[0], height=size[1])
        attributes += f' rx="{round_by:g}"' if round_by else ""
        self._add("rect", attributes, _fill(colour), bottom=at[1] + size[1])

    def dot(self, at: tuple[float, float], radius: float, colour: str) -> None:
        """Draw a filled circle."""
        attributes = _places(cx=at[0], cy=at[1], r=radius)
        self._add("circle", attributes, _fill(colour), bottom=at[1] + radius)

    def ring(self, at: tuple[float, float], radius: float, colour: str) -> None:
        """Draw a circle that is filled with the background."""
        attributes = _places(cx=at[0], cy=at[1], r=radius)
        paint = (
            f'class="edge-{colour} page" fill="{LIGHT["page"]}" stroke="{LIGHT[colour]}" '
            'stroke-width="2"'
        )
        self._add("circle", attributes, paint, bottom=at[1] + radius)

    def path(self, points: list[tuple[float, float]], colour: str, width: float = 2.0) -> None:
        """Draw a line through points."""
        text = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
        paint = _stroke(colour, width) + ' fill="none" stroke-linejoin="round"'
        self._add("polyline", f'points="{text}"', paint, bottom=max(y for _, y in points))

    def inline(self) -> str:
        """Return the drawing for a page that styles it."""
        return self._written(head="", style="")

    def document(self) -> str:
        """Return the drawing as a file of its own, readable on light and on dark."""
        page = f'<rect class="page" fill="{LIGHT["page"]}" width="100%" height="100%"/>'
        return self._written(
            head='<?xml version="1.0" encoding="utf-8"?>\n',
            style=f"<style>@media (prefers-color-scheme: dark) {{ {colours(DARK)} }}</style>{page}",
        )

    def _written(self, *, head: str, style: str) -> str:
        height = round(self.height + 16)
        return (
            f'{head}<svg xmlns="http://www.w3.org/2000/svg" class="picture" width="{self.width}" '
            f'height="{height}" viewBox="0 0 {self.width} {height}" role="img" '
            f"aria-label={quoteattr(visible(self._title))} "
            f'font-family="{FONT}">{style}\n' + "\n".join(self._marks) + "\n</svg>\n"
        )

    def _add(
        self, tag: str, attributes: str, paint: str, content: str = "", *, bottom: float
    ) -> None:
        end = f">{content}</{tag}>" if content else "/>"
        self._marks.append(f"<{tag} {attributes} {paint}{end}")
        self.height = max(self.height, bottom)


def colours(palette: Mapping[str, str], within: str = "") -> str:
    """Return the rules of a style sheet that paint every class of mark."""
    rules = []
    for name, colour in palette.items():
        rules.append(f"{within}.{name} {{ fill: {colour}; }}")
        rules.append(f"{within}.edge-{name} {{ stroke: {colour}; }}")
    return " ".join(rules)


def _fill(colour: str) -> str:
    return f'class="{colour}" fill="{LIGHT[colour]}"'


def _stroke(colour: str, width: float) -> str:
    return f'class="edge-{colour}" stroke="{LIGHT[colour]}" stroke-width="{width:g}"'


def _places(**numbers: float) -> str:
    return " ".join(f'{name}="{_number(value)}"' for name, value in numbers.items())


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
