"""Calls of tools as a model asks for them: what command they run, and when two are the same."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from fairtrial.model.json import Json

_SPACE: Final = re.compile(r"\s+")
_COMMANDS: Final = ("command", "cmd")
_SHELLS: Final = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh")
_IN_CODE: Final = re.compile(
    r"""\b["']?cmd["']?\s*:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)""", re.DOTALL
)
"""A command in the JavaScript by which models of Codex ask for tools."""
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_LETTERS: Final = {"n": "\n", "t": "\t"}
_JSON: Final = msgspec.json.Encoder(order="sorted")


def action_key(tool: str, command: str | None, given: Json) -> bytes:
    """Return what is equal for two calls of one tool with the same input.

    Args:
        tool: Its name.
        command: What it runs in a shell, if it does; blanks in it do not count.
        given: Its whole input, which counts where there is no command.
    """
    if command is not None:
        return f"{tool}\0{_SPACE.sub(' ', command).strip()}".encode("utf-8", "replace")
    if isinstance(given, str):
        return f"{tool}\0{given}".encode("utf-8", "replace")
    name = tool.encode("utf-8", "replace")
    try:
        return name + b"\0" + _JSON.encode(given)
    except UnicodeEncodeError:  # half a surrogate pair
        return name + b"\0" + repr(given).encode("utf-8", "replace")


def command_of(given: Json) -> str | None:
    """Return the command that the input of a call has run in a shell; None when it has none."""
    if not isinstance(given, Mapping):
        return None
    command = next((given[name] for name in _COMMANDS if given.get(name)), None)
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        shell = len(command) > 2 and _SHELLS.fullmatch(command[0]) and command[-2].startswith("-")
        return command[-1] if shell else shlex.join(command)
    return command if isinstance(command, str) else None


def commands_of(given: Json) -> Iterator[str]:
    """Yield every command that the input of a call has run, also those in a program's text."""
    command = command_of(given)
    if command is not None:
        yield command
    elif isinstance(given, str):
        yield from (_unquoted(found[1]) for found in _IN_CODE.finditer(given))


def _unquoted(literal: str) -> str:
    try:
        text = json.loads(literal)
    except ValueError:
        return _ESCAPED.sub(lambda found: _LETTERS.get(found[1], found[1]), literal[1:-1])
    return str(text)
