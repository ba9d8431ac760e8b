"""The files in which agents are told of hooks: where they are, and what would become of them."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fairtrial.model.errors import UsageError
from fairtrial.sessions.capture import (
    hook_entries,
    json_servers,
    notify_setting,
    toml_servers,
)
from fairtrial.sessions.capture.command_line import in_shell, own_command, shared_command
from fairtrial.sessions.capture.json_settings import SettingsError
from fairtrial.sessions.capture.payload import CLAUDE_CODE, CODEX
from fairtrial.sessions.capture.server_command import own_server, shared_server

AGENTS = (CLAUDE_CODE, CODEX)
_NOTIFY_TAKEN = (
    "its notify is yours and stays: where Codex passes hooks over because they are not trusted, "
    "`fairtrial sessions sync` finds its sessions"
)
_SERVER_TAKEN = "its server called fairtrial is yours and stays"
_TRUSTED = "Codex reads the settings of a repository that it trusts, and of no other"
_HOOKS_OFF = '"disableAllHooks" is set there: Claude Code calls no hooks'


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file of an agent's settings.

    Attributes:
        agent: Whose.
        path: Where.
        shared: A team shares it, by way of the repository.
        servers: It is looked at for the MCP servers that it names; else for hooks.
    """

    agent: str
    path: Path
    shared: bool = False
    servers: bool = False

    @property
    def holds_notify(self) -> bool:
        """Whether it is Codex's config.toml, for what it calls; else it is JSON with hooks."""
        return self.path.suffix == ".toml" and not self.servers


@dataclass(frozen=True, slots=True)
class Edit:
    """What would become of a file.

    Attributes:
        file: The file.
        before: Its text; None when it is not there.
        after: Its text afterwards; None when it goes.
        restored: Whether that is what it was before `init`, to the byte.
        original: What it is without anything of ours; None when that is no file.
        note: What else there is to know.
    """

    file: SettingsFile
    before: str | None
    after: str | None
    restored: bool = False
    original: str | None = None
    note: str | None = None


def config_folder(agent: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder of an agent's own settings."""
    name, usual = {
        CLAUDE_CODE: ("CLAUDE_CONFIG_DIR", ".claude"),
        CODEX: ("CODEX_HOME", ".codex"),
    }[agent]
    given = environ.get(name)
    return Path(given).expanduser() if given else home / usual


def user_files(agent: str, environ: Mapping[str, str], home: Path) -> list[SettingsFile]:
    """Return the files of a user's settings."""
    folder = config_folder(agent, environ, home)
    names = ("settings.json",) if agent == CLAUDE_CODE else ("hooks.json", "config.toml")
    return [SettingsFile(agent, folder / name) for name in names]


def project_files(agent: str, root: Path) -> list[SettingsFile]:
    """Return the files of a repository's settings."""
    name = ".claude/settings.json" if agent == CLAUDE_CODE else ".codex/hooks.json"
    return [SettingsFile(agent, root / name, shared=True)]


def user_server_files(agent: str, environ: Mapping[str, str], home: Path) -> list[SettingsFile]:
    """Return the files that name a user's MCP servers."""
    folder = config_folder(agent, environ, home)
    if agent == CODEX:
        return [SettingsFile(agent, folder / "config.toml", servers=True)]
    beside = folder if environ.get("CLAUDE_CONFIG_DIR") else home
    return [SettingsFile(agent, beside / ".claude.json", servers=True)]


def project_server_files(agent: str, root: Path) -> list[SettingsFile]:
    """Return the files that name a repository's MCP servers."""
    name = ".mcp.json" if agent == CLAUDE_CODE else ".codex/config.toml"
    return [SettingsFile(agent, root / name, shared=True, servers=True)]


def adding(file: SettingsFile, data_folder: Path) -> Edit:
    """Return what becomes of a file when hooks, or the server, are put into it.

    Raises:
        UsageError: it cannot be read or changed, or is broken.
    """
    before = read_text(file.path)
    words = own_command(file.agent, data_folder)
    note = None
    try:
        if file.servers:
            server = shared_server() if file.shared else own_server(data_folder)
            put_into = toml_servers if file.path.suffix == ".toml" else json_servers
            served = put_into.with_server(before, server, shared=file.shared)
            if served is None:
                return Edit(file, before, before, note=_SERVER_TAKEN)
            after = served
            note = _TRUSTED if file.shared and file.agent == CODEX else None
        elif file.holds_notify:
            after = notify_setting.with_notify(before, words)
            if after is None:
                return Edit(file, before, before, note=_NOTIFY_TAKEN)
        else:
            command = shared_command(file.agent) if file.shared else in_shell(words)
            after = hook_entries.with_hooks(before, file.agent, command)
            note = _HOOKS_OFF if hook_entries.switched_off(after) else None
        original = None if before is None else _without(file, before, None)
    except SettingsError as error:
        raise _broken(file.path, error) from None
    return Edit(file, before, after, original=original, note=note)


def server_in(file: SettingsFile) -> object:
    """Return what a file says of a server called fairtrial; None when it names none.

    Raises:
        UsageError: it cannot be read, or is broken.
    """
    look = toml_servers if file.path.suffix == ".toml" else json_servers
    try:
        return look.server_in(read_text(file.path))
    except SettingsError as error:
        raise UsageError(str(error), where=str(file.path), fix="mend the file") from None


def taking_out(file: SettingsFile, original: str | None, written: str | None) -> Edit:
    """Return what becomes of a file when hooks, or the server, are taken out of it.

    Args:
        file: The file.
        original: Its text before `init`; None when there was none, or that is not known.
        written: Hash of the text that `init` wrote; None when that is not known.

    Raises:
        UsageError: it cannot be read or changed, or is broken.
    """
    before = read_text(file.path)
    if before is None:
        return Edit(file, None, None)
    if written is not None and text_hash(before) == written:
        return Edit(file, before, original, restored=True)
    try:
        after = _without(file, before, original)
    except SettingsError as error:
        raise _broken(file.path, error) from None
    made = written is not None and original is None
    if made and after != before and after.strip() in ("", "{}"):
        return Edit(file, before, None)
    return Edit(file, before, after)


def text_hash(text: str) -> str:
    """Return what a text is known by."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_text(path: Path) -> str | None:
    """Return the text of a file, line ends as they are; None when it is not there.

    Raises:
        UsageError: it cannot be read, or is no text.
    """
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        if path.is_symlink():
            raise UsageError(
                "leads nowhere", where=str(path), fix="mend the link, or remove it"
            ) from None
        return None
    except UnicodeDecodeError:
        raise UsageError("is no UTF-8 text", where=str(path), fix="mend it first") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None


def write_text(path: Path, text: str | None) -> None:
    """Write a file whole, or remove it; a link stays a link, and the mode stays.

    Raises:
        UsageError: it cannot be written; it is as it was.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        if text is None:
            path.unlink()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        part = Path(name)
        try:
            with open(descriptor, "wb") as stream:  # noqa: PTH123  # a descriptor
                stream.write(text.encode())
            part.chmod(mode)
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=str(path)) from None


def check_writable(path: Path) -> None:
    """Refuse a file that is not to be written; replacing it would not ask.

    Raises:
        UsageError: it is read-only.
    """
    with suppress(OSError):
        mode = path.stat().st_mode
        if not mode & 0o222 or not os.access(path, os.W_OK):
            raise UsageError(
                "is read-only",
                where=str(path),
                fix=f"if it is yours to change: chmod u+w {path}",
            )


def _without(file: SettingsFile, text: str, original: str | None) -> str:
    if file.servers and file.path.suffix == ".toml":
        return toml_servers.without_server(text, shared=file.shared)
    if file.servers:
        return json_servers.without_server(text, original, shared=file.shared)
    if file.holds_notify:
        return notify_setting.without_notify(text)
    return hook_entries.without_hooks(text, original)


def _broken(path: Path, error: SettingsError) -> UsageError:
    return UsageError(
        f"cannot be changed: {error}",
        where=str(path),
        fix="mend the file first; nothing was changed",
    )
