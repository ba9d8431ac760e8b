"""Settings in JSON: read with care, and written as they were laid out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class SettingsError(Exception):
    """A file of settings is not as its agent would have it; `str()` says how."""


def parsed(text: str | None) -> dict[str, Any]:
    """Return the settings in a file's text; none when it is empty or None.

    Raises:
        SettingsError: it is no JSON object, or a name stands twice in one.
    """
    body = (text or "").removeprefix("\ufeff")
    if not body.strip():
        return {}
    try:
        settings = json.loads(body, object_pairs_hook=_without_doubles)
    except ValueError as error:
        raise SettingsError(f"it is no JSON: {error}") from None
    except RecursionError:
        raise SettingsError("it is nested too deeply") from None
    if not isinstance(settings, dict):
        raise SettingsError("it is no JSON object")
    return settings


def written(settings: Mapping[str, Any], before: str) -> str:
    """Return settings as text, laid out as the text before was."""
    layout = _layout(before)
    if layout.indent:
        body = json.dumps(settings, indent=layout.indent, ensure_ascii=False)
    else:
        body = json.dumps(settings, ensure_ascii=False)
    return layout.mark + body.replace("\n", layout.line) + layout.ending


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {double!r} stands twice in one object")
    return found


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a file is written.

    Attributes:
        indent: What one level is indented by.
        ending: What the file ends with.
        line: What a line ends with.
        mark: What the file begins with.
    """

    indent: str = "  "
    ending: str = "\n"
    line: str = "\n"
    mark: str = ""


def _layout(text: str) -> _Layout:
    if not text.strip():
        return _Layout()
    body = text.removeprefix("\ufeff")
    indented = re.search(r"[{\[][ \t]*\r?\n([ \t]+)\S", body)
    return _Layout(
        indent=indented[1] if indented else "" if "\n" not in body.strip() else "  ",
        ending=body[len(body.rstrip()) :],
        line="\r\n" if "\r\n" in body else "\n",
        mark="\ufeff" if text.startswith("\ufeff") else "",
    )
