"""The MCP server in Codex's config.toml: a table of ours at the end, and nothing else touched."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fairtrial.sessions.capture.json_settings import SettingsError
from fairtrial.sessions.capture.server_command import NAME, ServerCommand, is_own_server

_TABLE: Final = f"mcp_servers.{NAME}"
_PASSED: Final = ("FAIRTRIAL_HOME", "FAIRTRIAL_STORE", "FAIRTRIAL_PRICES", "FAIRTRIAL_ENVIRONMENT")
"""Codex keeps all other variables of its environment from a server."""
_START_S: Final = 60
_TOOL_S: Final = 3600


def with_server(text: str | None, command: ServerCommand, *, shared: bool) -> str | None:
    """Return a file's text with our server in it; None when the user has one of that name.

    Options that were added to an entry of ours stay.

    Args:
        text: What is in the file; None when there is none.
        command: How the server is started.
        shared: Whether a team shares the file.

    Raises:
        SettingsError: the file is no TOML, or no table can be added to it.
    """
    before = text or ""
    found = _found(before)
    if found is not None and not is_own_server(found, shared=shared):
        return None
    if isinstance(found, Mapping):
        return _brought_up(before, found, command.kept(found))
    line = "\r\n" if "\r\n" in before else "\n"
    after = before + _gap(before, line) + _block(command, line)
    try:
        tomllib.loads(_plain(after))
    except tomllib.TOMLDecodeError:
        raise SettingsError(
            f"its mcp_servers are written in one line, and take no table [{_TABLE}]"
        ) from None
    return after


def without_server(text: str, *, shared: bool) -> str:
    """Return a file's text without our server; the same text when it is not there.

    Raises:
        SettingsError: the file is no TOML.
    """
    found = _found(text)
    if not is_own_server(found, shared=shared):
        return text
    for line in ("\n", "\r\n"):
        block = _block(_command(found), line)
        before, ours, after = text.partition(block)
        if ours and not after.lstrip().startswith(f"[{_TABLE}"):
            return before.removesuffix(line) + after if _has_gap(before, line) else before + after

    def edit(document: Any) -> None:  # it was written otherwise since
        del document["mcp_servers"][NAME]
        if not document["mcp_servers"]:
            del document["mcp_servers"]

    return _edited(text, edit)


def _brought_up(text: str, found: Mapping[str, Any], command: ServerCommand) -> str:
    """Return a file's text with an entry of ours that starts the server as it is started now."""
    given = found.get("env")
    env = {**(given if isinstance(given, Mapping) else {}), **command.environ}
    arguments = list(command.arguments)
    wanted = {"command": command.program, "args": arguments, **({"env": env} if env else {})}
    if all(found.get(name) == value for name, value in wanted.items()):
        return text

    def edit(document: Any) -> None:
        document["mcp_servers"][NAME].update(wanted)

    return _edited(text, edit)


def _edited(text: str, edit: Callable[[Any], None]) -> str:
    # 40 ms that a file as we wrote it does without.
    from tomlkit import dumps, parse  # noqa: PLC0415

    document = parse(text.removeprefix("\ufeff"))
    edit(document)
    return ("\ufeff" if text.startswith("\ufeff") else "") + dumps(document)


def server_in(text: str | None) -> object:
    """Return the entry under our name, whoever wrote it; None when there is none.

    Raises:
        SettingsError: the file is no TOML, or its servers are no table.
    """
    return _found(text or "")


def _found(text: str) -> Any:
    """Return the entry under our name; None when there is none.

    Raises:
        SettingsError: the file is no TOML, or its servers are no table.
    """
    try:
        servers = tomllib.loads(_plain(text)).get("mcp_servers", {})
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"it is no TOML: {error}") from None
    except RecursionError:
        raise SettingsError("it is nested too deeply") from None
    if not isinstance(servers, dict):
        raise SettingsError("its mcp_servers are no table")
    return servers.get(NAME)


def _command(found: Mapping[str, Any]) -> ServerCommand:
    """Return the command of an entry, as far as a block of ours tells it."""
    environ = found.get("env") or {}
    home = environ.get("FAIRTRIAL_HOME") if isinstance(environ, dict) else None
    arguments = tuple(str(one) for one in found["args"])
    return ServerCommand(
        str(found.get("command")), arguments, None if home is None else Path(str(home))
    )


def _block(command: ServerCommand, line: str) -> str:
    return "".join(one + line for one in _lines(command))


def _lines(command: ServerCommand) -> Iterator[str]:
    # JSON texts, and lists of them, are TOML ones, too.
    yield f"[{_TABLE}]"
    yield f"command = {_json(command.program)}"
    yield f"args = {_json(list(command.arguments))}"
    passed = [name for name in _PASSED if name not in command.environ]
    if command.environ:
        pairs = ", ".join(f"{name} = {_json(text)}" for name, text in command.environ.items())
        yield f"env = {{ {pairs} }}"
    yield f"env_vars = {_json(passed)}"
    yield f"startup_timeout_sec = {_START_S}"
    yield f"tool_timeout_sec = {_TOOL_S}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gap(before: str, line: str) -> str:
    """Return what sets our table apart from what is there."""
    if not before.strip("\ufeff"):
        return ""
    return line if before.endswith("\n") else line * 2


def _has_gap(before: str, line: str) -> bool:
    return before.endswith(line) and bool(before.strip())


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
