"""`init`: puts hooks, or the MCP server, into agents' settings, and takes them out again."""

from __future__ import annotations

import dataclasses
import difflib
import json
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from fairtrial.app.bench import Bench
from fairtrial.app.reports.init import Action, InitReport, SettingsChange
from fairtrial.app.requests.init import Request
from fairtrial.model.errors import NotFoundError, RefusedError, StoreError, UsageError
from fairtrial.redaction.own_rules import SESSION_RULES
from fairtrial.redaction.secrets import Redactor
from fairtrial.sessions.capture.payload import CLAUDE_CODE
from fairtrial.sessions.capture.settings_files import (
    AGENTS,
    Edit,
    SettingsFile,
    adding,
    check_writable,
    config_folder,
    project_files,
    project_server_files,
    read_text,
    taking_out,
    text_hash,
    user_files,
    user_server_files,
    write_text,
)
from fairtrial.sessions.repositories import Repositories

_SERVERS = "mcp:"
_PROGRAMS = {CLAUDE_CODE: "claude"}


def init(bench: Bench, request: Request) -> InitReport:
    """Put hooks, or the server, into agents' settings, or take them out, once the user consents.

    Raises:
        UsageError: there is no such agent, or a file cannot be read, is broken or read-only;
            nothing was changed.
        NotFoundError: no agent is found here, or, with --project, no repository.
        RefusedError: the user did not consent, or cannot be asked and --yes is missing.
        StoreError: the data folder cannot be written.
    """
    records = _Records(bench.home)
    edits = _undoing(bench, request, records) if request.undo else _adding(bench, request)
    changed = [edit for edit in edits if edit.before != edit.after]
    for edit in changed:
        check_writable(edit.file.path)
    report = InitReport(
        [_change(edit, records, undo=request.undo) for edit in edits],
        request.undo,
        made=not request.dry_run,
        mcp=request.mcp,
    )
    if request.dry_run or not changed:
        return report
    if not request.yes:
        _ask(bench, dataclasses.replace(report, made=False, asking=True))
    for edit in changed:
        records.keep(edit, undo=request.undo)
        write_text(edit.file.path, edit.after)
    return report


def _ask(bench: Bench, plan: InitReport) -> None:
    if bench.ask is None:
        names = [c.path for c in plan.changes if c.action is not Action.NONE]
        raise RefusedError(
            f"not without your consent: {', '.join(names)} would be changed",
            why="there is no terminal to ask on",
            fix="look at the changes with --dry-run, then add --yes",
        )
    if not bench.ask(plan, "Make these changes?"):
        raise RefusedError("nothing was changed")


def _agents(request: Request) -> Sequence[str]:
    for name in request.agent:
        if name not in AGENTS:
            raise UsageError(
                f"there is no agent {name!r} with hooks",
                where="--agent",
                fix=f"one of {', '.join(AGENTS)}; `fairtrial sessions sync` reads others'",
            )
    return tuple(dict.fromkeys(request.agent)) or AGENTS


def _adding(bench: Bench, request: Request) -> list[Edit]:
    agents = _agents(request)
    if not request.agent:
        agents = [agent for agent in agents if is_here(bench, agent)]
    if not agents:
        mcp = " --mcp" if request.mcp else ""
        raise NotFoundError(
            "neither Claude Code nor Codex is found here",
            why="there is no folder of their settings, and no `claude` or `codex` on PATH",
            fix=f"install one, or name it: fairtrial init{mcp} --agent claude-code",
        )
    files = [file for agent in agents for file in _files(bench, agent, request)]
    return [adding(file, bench.home.absolute()) for file in files]


def _undoing(bench: Bench, request: Request, records: _Records) -> list[Edit]:
    agents = _agents(request)
    files = [file for agent in agents for file in _files(bench, agent, request)]
    if not request.project:
        files += [
            file for file in records.files() if file.agent in agents and file.servers is request.mcp
        ]
    edits = []
    for file in {file.path: file for file in files}.values():
        edit = taking_out(file, *records.of(file))
        if edit.before is not None:
            edits.append(edit)
    return edits


def is_here(bench: Bench, agent: str) -> bool:
    """Return whether an agent was used on this machine, or could be."""
    if config_folder(agent, bench.environ, user_home(bench)).is_dir():
        return True
    program = _PROGRAMS.get(agent, agent)
    return shutil.which(program, path=bench.environ.get("PATH")) is not None


def user_home(bench: Bench) -> Path:
    """Return the user's home folder."""
    return Path(bench.environ.get("HOME") or Path.home())


def _files(bench: Bench, agent: str, request: Request) -> list[SettingsFile]:
    if not request.project:
        of_user = user_server_files if request.mcp else user_files
        return of_user(agent, bench.environ, user_home(bench))
    root = Repositories().around(str(bench.cwd))
    if root is None:
        raise NotFoundError(
            f"there is no repository around {bench.cwd}",
            where="--project",
            fix="change to one, or leave --project out to change your own settings",
        )
    of_project = project_server_files if request.mcp else project_files
    return of_project(agent, Path(root))


def _change(edit: Edit, records: _Records, *, undo: bool) -> SettingsChange:
    return SettingsChange(
        agent=edit.file.agent,
        path=str(edit.file.path),
        action=_action(edit),
        diff=_diff(edit),
        backup=None if undo else records.backup_of(edit),
        note=edit.note,
    )


def _action(edit: Edit) -> Action:
    if edit.before == edit.after:
        return Action.NONE
    if edit.before is None:
        return Action.CREATE
    if edit.after is None:
        return Action.DELETE
    return Action.RESTORE if edit.restored else Action.CHANGE


def _diff(edit: Edit) -> str:
    if edit.before == edit.after:
        return ""
    old, new = edit.before, edit.after
    lines = difflib.unified_diff(
        (old or "").splitlines(),
        (new or "").splitlines(),
        "/dev/null" if old is None else str(edit.file.path),
        "/dev/null" if new is None else str(edit.file.path),
        lineterm="",
    )
    # Settings hold keys, too, and a diff is read by more than the user: logs, other agents.
    return Redactor(SESSION_RULES).body("\n".join(lines).encode()).decode(errors="replace")


def _key(file: SettingsFile) -> str:
    """Return what a file is remembered by: hooks and servers may be in the same one."""
    return f"{_SERVERS}{file.path}" if file.servers else str(file.path)


class _Records:
    """What `init` remembers of each file: what was in it before, and what it wrote."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "capture"
        self._file = self._folder / "installed.json"

    def of(self, file: SettingsFile) -> tuple[str | None, str | None]:
        """Return the text of a file before `init`, and the hash of what it wrote; or None."""
        record = self._all().get(_key(file), {})
        backup, written = record.get("backup"), record.get("written")
        try:
            original = None if backup is None else read_text(Path(backup))
        except UsageError:
            original = None
        if backup is not None and original is None:
            return None, None  # without the copy only our own entries are taken out
        return original, written if isinstance(written, str) else None

    def files(self) -> list[SettingsFile]:
        """Return all files that hooks, or the server, were put into."""
        return [
            SettingsFile(
                str(record.get("agent")),
                Path(key.removeprefix(_SERVERS)),
                shared=bool(record.get("shared")),
                servers=key.startswith(_SERVERS),
            )
            for key, record in self._all().items()
        ]

    def backup_of(self, edit: Edit) -> str | None:
        """Return where the text of a file without ours is, or will be kept."""
        if edit.before == edit.after:
            return None
        known = self._all().get(_key(edit.file), {}).get("backup")
        if edit.original is not None:
            return str(self._backup(edit.file))
        return None if known is None else str(known)

    def keep(self, edit: Edit, *, undo: bool) -> None:
        """Remember a change that is about to be made; an undone one is forgotten.

        Raises:
            StoreError: the data folder cannot be written.
        """
        records = self._all()
        key = _key(edit.file)
        known = records.pop(key, {})
        try:
            if not undo:
                records[key] = {
                    "agent": edit.file.agent,
                    "shared": edit.file.shared,
                    "backup": self._kept_original(edit, known),
                    "written": text_hash(edit.after or ""),
                }
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = self._file.with_suffix(".part")
            part.write_text(json.dumps(records, indent=2))
            part.replace(self._file)
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}",
                where=str(self._folder),
                fix="make it writable, or set FAIRTRIAL_HOME to a folder that is",
            ) from None

    def _kept_original(self, edit: Edit, known: Mapping[str, Any]) -> str | None:
        """Keep the text of a file without ours, and return where; None when there was no file.

        A copy that is there already stays the right one while the file is as `init` left it.
        """
        if known and edit.before is not None and text_hash(edit.before) == known.get("written"):
            return known.get("backup")
        if edit.original is None:
            return None
        backup = self._backup(edit.file)
        backup.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        backup.write_bytes(edit.original.encode())
        return str(backup)

    def _backup(self, file: SettingsFile) -> Path:
        name = f"{sha256(_key(file).encode()).hexdigest()[:12]}-{file.path.name}"
        return self._folder / "backups" / name

    def _all(self) -> dict[str, dict[str, Any]]:
        try:
            found = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(found, Mapping):
            return {}
        return {str(key): dict(one) for key, one in found.items() if isinstance(one, Mapping)}
