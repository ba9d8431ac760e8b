"""`doctor`: is everything here that fairtrial needs?"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairtrial import __version__
from fairtrial.app.bench import Bench
from fairtrial.app.doctor_capture import capture_checks
from fairtrial.app.doctor_servers import server_checks
from fairtrial.app.isolation_checks import isolation_checks
from fairtrial.app.reports.doctor import Check, DoctorReport
from fairtrial.app.requests.doctor import Request
from fairtrial.model.errors import StoreError, UsageError
from fairtrial.model.session import Unread
from fairtrial.ports.sessions import SessionQuery
from fairtrial.providers.choice import Here, choose_provider

AGENTS = ("claude", "codex", "opencode", "gemini", "pi")
LITTLE_DISK = 1024**3
VERSION_TIMEOUT_S = 10
_SHOWN = 5
_MUCH_UNREAD = 0.05


def doctor(bench: Bench, request: Request) -> DoctorReport:  # noqa: ARG001  # every verb takes both
    """Look at the installation, the store, the disk, the agents and the levels of isolation.

    The store is opened as any command opens it, which makes it where there is none. What killed
    runs have left of workspaces is removed.
    """
    return DoctorReport(
        [
            *_installation(),
            _store(bench),
            *_sessions(bench),
            *capture_checks(bench),
            *server_checks(bench),
            _disk(bench.home),
            _git(bench),
            *(_agent(bench, name) for name in AGENTS),
            *isolation_checks(bench),
            _provider(bench),
        ]
    )


def _installation() -> Iterator[Check]:
    python = f"{platform.python_version()} at {sys.executable}"
    yield Check("fairtrial", ok=True, found=f"{__version__}, Python {python}")
    for name, problem in _unmet():
        yield Check(name, ok=False, found=problem, fix=f"pip install --upgrade {name}")


def _unmet() -> Iterator[tuple[str, str]]:
    """Yield the required packages that are not installed."""
    for requirement in importlib.metadata.requires("fairtrial") or ():
        specifier, _, marker = requirement.partition(";")
        name = specifier.split(">")[0].split("=")[0].split("[")[0].strip()
        if "extra" in marker:
            continue
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield name, "not installed"


def _store(bench: Bench) -> Check:
    try:
        newest = bench.store.experiments.newest(1)
    except StoreError as error:
        return Check("store", ok=False, found=str(error).split("\n")[0], fix=error.fix)
    found = "no experiments yet" if not newest else f"newest experiment {newest[0].experiment.name}"
    return Check("store", ok=True, found=f"{bench.store_url or bench.home}, {found}")


def _sessions(bench: Bench) -> Iterator[Check]:
    """Say how many sessions are captured, and what of them was not understood, by agent."""
    try:
        tallies = bench.store.sessions.tallies(SessionQuery())
        troubled = bench.store.sessions.unread()
        strays = bench.store.sessions.strays()
    except StoreError:
        return  # the check of the store tells of it
    if strays:
        shown = ", ".join(strays[:_SHOWN]) + (", …" if len(strays) > _SHOWN else "")
        found = f"{len(strays):,} files among the transcripts hold no session: {shown}"
        yield Check("transcripts", ok=None, found=found)
    if not tallies:
        yield Check("sessions", ok=None, found="none captured: fairtrial sessions sync")
        return
    captured = sum(tally.sessions for tally in tallies)
    yield Check("sessions", ok=True, found=f"{captured:,} captured")
    by_agent: dict[str, list[Unread]] = {}
    versions: dict[str, set[str]] = {}
    for agent, version, unread in troubled:
        by_agent.setdefault(agent, []).append(unread)
        versions.setdefault(agent, set()).add(version or "unknown")
    for agent, parts in sorted(by_agent.items()):
        yield _unread(agent, sorted(versions[agent]), parts)


def _unread(agent: str, versions: Sequence[str], parts: Sequence[Unread]) -> Check:
    unknown: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for part in parts:
        unknown.update(part.unknown_records)
        fields.update(part.unknown_fields)
    records = sum(part.records for part in parts)
    bad = sum(part.bad_lines + part.clipped_lines for part in parts)
    share = (sum(unknown.values()) + bad) / records if records else 0.0
    told = [f"{share:.1%} of {records:,} records not understood in {len(parts):,} of its sessions"]
    if unknown:
        told.append(f"unknown records: {_most(unknown)}")
    if fields:
        told.append(f"unknown fields: {_most(fields)}")
    if bad:
        told.append(f"{bad:,} broken or endless lines")
    told.append(f"written by {', '.join(versions[-_SHOWN:])}")
    told.append("see: fairtrial sessions list -w is:unread")
    fix = "pip install --upgrade fairtrial: the agent may be newer than what reads it"
    if not unknown:  # a newer reader would not read these either
        fix = (
            "nothing, if an agent or the machine crashed: what was torn is skipped; else report it"
        )
    ok = share < _MUCH_UNREAD
    return Check(f"sessions of {agent}", ok=ok, found="; ".join(told), fix=fix)


def _most(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.most_common(_SHOWN))


def _disk(home: Path) -> Check:
    place = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    found = f"{free / LITTLE_DISK:.1f} GiB free at {place}"
    if not os.access(place, os.W_OK):
        fix = "make it writable, or set FAIRTRIAL_HOME to a folder that is"
        return Check("disk", ok=False, found=f"{place} cannot be written", fix=fix)
    fix = "free some space, or set FAIRTRIAL_HOME to another disk"
    return Check("disk", ok=free > LITTLE_DISK, found=found, fix=fix)


def _git(bench: Bench) -> Check:
    path = shutil.which("git", path=bench.environ.get("PATH"))
    fix = "install git: without it no experiment knows its commit"
    return Check("git", ok=path is not None, found=path or "not on PATH", fix=fix)


def _agent(bench: Bench, name: str) -> Check:
    path = shutil.which(name, path=bench.environ.get("PATH"))
    if path is None:
        return Check(name, ok=None, found="not on PATH (needed only to run this agent)")
    try:
        done = subprocess.run(  # noqa: S603  # a program of a fixed name, no user text
            [path, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        fix = f"try it by hand: {name} --version"
        return Check(name, ok=False, found=f"{path} does not run: {error}", fix=fix)
    version = (done.stdout.strip().splitlines() or ["says nothing"])[0]
    return Check(name, ok=True, found=f"{version} at {path}")


def _provider(bench: Bench) -> Check:
    """Say which provider is taken where none is named; nothing is asked of it."""
    here = Here(bench.environ, lambda name: shutil.which(name, path=bench.environ.get("PATH")))
    try:
        choice = choose_provider(here)
    except UsageError as error:
        found = f"none would be chosen: {error.why} (needed only to call a model)"
        return Check("provider", ok=None, found=found)
    found = f"{choice.sentence.removeprefix('provider: ')}, model {choice.model}"
    return Check("provider", ok=True, found=found)
