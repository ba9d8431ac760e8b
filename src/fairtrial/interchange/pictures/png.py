"""From SVG to PNG, by a library that is an optional extra."""

from __future__ import annotations

from fairtrial.model.errors import UsageError

SHARPNESS = 2.0
"""Pixels of the PNG for one of the drawing: sharp on a dense screen, and in print."""


def png(svg: str, where: str) -> bytes:
    """Return a drawing as PNG.

    Args:
        svg: The drawing.
        where: The file that was asked for, for the error.

    Raises:
        UsageError: the library is not installed.
    """
    require_png(where)
    import resvg_py  # noqa: PLC0415  # an optional extra

    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=SHARPNESS))


def require_png(where: str) -> None:
    """Check that PNG can be written.

    Raises:
        UsageError: the library is not installed.
    """
    try:
        import resvg_py  # noqa: F401, PLC0415  # an optional extra
    except ImportError:
        raise UsageError(
            "a PNG needs a library that is not installed",
            where=where,
            fix="name the file .svg, which needs none, or: pip install 'fairtrial[png]'",
        ) from None
