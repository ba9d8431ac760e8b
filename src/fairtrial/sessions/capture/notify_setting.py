"""Codex's `notify` in its config.toml: one line of ours at the top, and nothing else touched.

`notify` needs no trust, unlike hooks: it tells of each turn that ended even where hooks are passed
over. It is one setting; what a user has there already stays.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence

from fairtrial.sessions.capture.command_line import is_ours
from fairtrial.sessions.capture.json_settings import SettingsError


def with_notify(text: str | None, command: Sequence[str]) -> str | None:
    """Return a file's text with our line in it; None when the user has a `notify` of their own.

    Args:
        text: What is in the file; None when there is none.
        command: What is called.

    Raises:
        SettingsError: the file is no TOML.
    """
    found = notify_of(text or "")
    if found is not None and not is_ours(found):
        return None
    if found == list(command):
        return text
    rest = text or "" if found is None else without_notify(text or "")
    mark = "\ufeff" if rest.startswith("\ufeff") else ""
    ending = "\r\n" if "\r\n" in rest else "\n"
    return f"{mark}{_line(command)}{ending}{rest.removeprefix(mark)}"


def without_notify(text: str) -> str:
    """Return a file's text without our line; the same text when it is not there.

    Raises:
        SettingsError: the file is no TOML, or the line was written otherwise since.
    """
    found = notify_of(text)
    if not isinstance(found, list) or not is_ours(found):
        return text
    line = _line(found)
    for ending in ("\r\n", "\n", ""):
        before, ours, after = text.partition(line + ending)
        if ours and (not before or before.endswith(("\n", "\ufeff"))):
            return before + after
    raise SettingsError("its notify is ours, but was written otherwise since; remove it by hand")


def notify_of(text: str) -> object:
    """Return what `notify` is in a file; None when it is not there.

    Raises:
        SettingsError: the file is no TOML.
    """
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n")).get("notify")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"it is no TOML: {error}") from None
    except RecursionError:
        raise SettingsError("it is nested too deeply") from None


def _line(command: Sequence[str]) -> str:
    # A JSON list of texts is a TOML one, too.
    return f"notify = {json.dumps(list(command), ensure_ascii=False)}"
