"""What `doctor` says of the MCP server: which agents know it, and whether they can start it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from fairtrial.app.bench import Bench
from fairtrial.app.init import is_here, user_home
from fairtrial.app.reports.doctor import Check
from fairtrial.model.errors import UsageError
from fairtrial.sessions.capture.settings_files import (
    AGENTS,
    SettingsFile,
    server_in,
    user_server_files,
)


def server_checks(bench: Bench) -> Iterator[Check]:
    """Yield whether each agent that is here has the server among its own."""
    for agent in AGENTS:
        if is_here(bench, agent):
            for file in user_server_files(agent, bench.environ, user_home(bench)):
                yield _check(bench, file)


def _check(bench: Bench, file: SettingsFile) -> Check:
    name = f"mcp of {file.agent}"
    try:
        entry = server_in(file)
    except UsageError as error:
        return Check(name, ok=False, found=f"{file.path}: {error.what}", fix="mend the file")
    if not isinstance(entry, Mapping):
        return Check(name, ok=None, found=f"not in {file.path}: fairtrial init --mcp")
    command = entry.get("command")
    found = f"in {file.path}"
    if not isinstance(command, str):
        return Check(name, ok=True, found=found)  # by HTTP
    if shutil.which(command, path=bench.environ.get("PATH")) is None:
        found = f"{found}: its program {command} is not there any more"
        return Check(name, ok=False, found=found, fix="fairtrial init --mcp")
    return Check(name, ok=True, found=found)
