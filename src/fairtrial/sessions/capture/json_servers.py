"""The MCP server in JSON settings of Claude Code: `{"mcpServers": {NAME: {…}}}`."""

from __future__ import annotations

from typing import Any, Final

from fairtrial.sessions.capture.json_settings import SettingsError, parsed, written
from fairtrial.sessions.capture.server_command import NAME, ServerCommand, is_own_server

_SERVERS: Final = "mcpServers"


def with_server(text: str | None, command: ServerCommand, *, shared: bool) -> str | None:
    """Return a file's text with our server in it; None when the user has one of that name.

    All else keeps its place; options that were added to an entry of ours stay.

    Args:
        text: What is in the file; None when there is none.
        command: How the server is started.
        shared: Whether a team shares the file.

    Raises:
        SettingsError: the file is broken, or its servers are none.
    """
    settings = parsed(text)
    servers = _servers(settings)
    found = servers.get(NAME)
    if found is not None and not is_own_server(found, shared=shared):
        return None
    entry: dict[str, Any] = {"type": "stdio", "command": command.program}
    if found is None:
        entry |= {"args": list(command.arguments), "env": command.environ}
    else:
        kept = command.kept(found)
        given = found.get("env")
        env = given if isinstance(given, dict) else {}
        entry = {**found, **entry, "args": list(kept.arguments), "env": env | command.environ}
    if found == entry and text is not None:
        return text
    settings[_SERVERS] = {**servers, NAME: entry}
    return written(settings, text or "")


def without_server(text: str, before: str | None, *, shared: bool) -> str:
    """Return a file's text without our server; the same text when it is not there.

    Args:
        text: What is in the file.
        before: What was in it before our server was; None when that is not known.
        shared: Whether a team shares the file.

    Raises:
        SettingsError: the file is broken, or its servers are none.
    """
    settings = parsed(text)
    servers = _servers(settings)
    if not is_own_server(servers.get(NAME), shared=shared):
        return text
    del servers[NAME]
    try:
        known = parsed(before)
    except SettingsError:
        known = {}
    if servers or _SERVERS in known:
        settings[_SERVERS] = servers
    else:
        del settings[_SERVERS]
    return written(settings, text)


def server_in(text: str | None) -> object:
    """Return the entry under our name, whoever wrote it; None when there is none.

    Raises:
        SettingsError: the file is broken, or its servers are none.
    """
    return _servers(parsed(text)).get(NAME)


def _servers(settings: dict[str, Any]) -> dict[str, Any]:
    servers = settings.get(_SERVERS, {})
    if not isinstance(servers, dict):
        raise SettingsError(f'"{_SERVERS}" is no object')
    return dict(servers)
