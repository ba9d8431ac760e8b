"""What `doctor` says of capture: whether hooks are there, whether they work, what went wrong."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from fairtrial.app.bench import Bench
from fairtrial.app.init import is_here, user_home
from fairtrial.app.reports.doctor import Check
from fairtrial.model.errors import UsageError
from fairtrial.sessions.capture.folder import CaptureFolder
from fairtrial.sessions.capture.hook_entries import commands, switched_off
from fairtrial.sessions.capture.json_settings import SettingsError
from fairtrial.sessions.capture.settings_files import AGENTS, read_text, user_files

_RECENT: Final = timedelta(days=1)
_AGAIN: Final = "fairtrial init"


def capture_checks(bench: Bench) -> Iterator[Check]:
    """Yield what there is to say of the hooks of each agent that is here."""
    folder = CaptureFolder(bench.home)
    now = bench.clock.now()
    for agent in AGENTS:
        if is_here(bench, agent):
            yield _agent(bench, folder, agent, now)
    errors = folder.errors()
    if errors:
        yield _errors(errors, now)
    waiting = [*folder.snapshots(), *folder.finished()]
    if waiting:
        found = f"{len(waiting):,} snapshots and sessions of hooks are not in the store yet"
        yield Check("capture waits", ok=None, found=f"{found}: fairtrial sessions sync")


def _agent(bench: Bench, folder: CaptureFolder, agent: str, now: datetime) -> Check:
    name = f"capture of {agent}"
    file = user_files(agent, bench.environ, user_home(bench))[0].path
    last = folder.last_event(agent)
    told = f"last event {last[0]}, {_ago(now - last[1])}" if last else "no event yet"
    try:
        text = read_text(file) or ""
        found = commands(text)
        off = switched_off(text)
    except (SettingsError, UsageError) as error:
        return Check(name, ok=False, found=f"{file}: {error}", fix="mend the file")
    if not found:
        if last is not None:  # by hooks of a repository
            return Check(name, ok=True, found=f"no hooks in {file}; {told}")
        return Check(name, ok=None, found=f"no hooks in {file}: {_AGAIN}")
    trouble = "hooks are switched off there (disableAllHooks)" if off else None
    trouble = trouble or next(filter(None, (_wrong(bench, one) for one in found)), None)
    if trouble is not None:
        return Check(name, ok=False, found=f"hooks in {file}: {trouble}", fix=_fix(off=off))
    return Check(name, ok=True, found=f"hooks in {file}; {told}")


def _fix(*, off: bool) -> str:
    return "take it out to let Claude Code call hooks" if off else _AGAIN


def _wrong(bench: Bench, command: str) -> str | None:
    """Return what keeps a command of ours from working here."""
    try:
        words = shlex.split(command)
    except ValueError:
        return "their command cannot be read"
    if shutil.which(words[0], path=bench.environ.get("PATH")) is None:
        return f"their program {words[0]} is not there any more"
    if "--home" in words[:-1]:
        home = Path(words[words.index("--home") + 1])
        if home != bench.home.absolute():
            return f"they write to {home}, and this is {bench.home}"
    return None


def _errors(errors: list[dict[str, str]], now: datetime) -> Check:
    newest = errors[-1]
    recent = [error for error in errors if _is_recent(error, now)]
    found = f"{len(recent):,} error{'' if len(recent) == 1 else 's'} of hooks in the last day; "
    found += f"the newest: {newest.get('agent')}, {newest.get('event')}: {newest.get('what')}"
    fix = "see how-to/capture-sessions; the agents were not disturbed"
    return Check("capture errors", ok=False if recent else None, found=found, fix=fix)


def _is_recent(error: dict[str, str], now: datetime) -> bool:
    try:
        return now - datetime.fromisoformat(error["at"]) < _RECENT
    except (KeyError, TypeError, ValueError):
        return False


def _ago(age: timedelta) -> str:
    seconds = max(age.total_seconds(), 0.0)
    for name, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        count = int(seconds // size)
        if count:
            return f"{count:,} {name}{'s' if count > 1 else ''} ago"
    return "less than a minute ago"
