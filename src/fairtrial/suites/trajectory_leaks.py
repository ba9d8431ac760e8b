"""What an agent saw, or tried to see, that a fair trial keeps from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import simple_commands
from fairtrial.model.eval_task import EvalTask
from fairtrial.model.json import Json
from fairtrial.model.session import Call, Operation, Result, ResultStatus, SessionEvent
from fairtrial.suites.telling_lines import ENOUGH, telling_lines

_URL: Final = re.compile(r"\b(?:https?|ftp|ssh|git)://[^\s'\"]+")
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104  # named only
_FETCHERS: Final = frozenset({"curl", "wget", "http", "https", "aria2c", "lynx", "links", "w3m"})
_REMOTE: Final = frozenset({"ssh", "scp", "sftp", "rsync", "ftp", "telnet"})
_LATER: Final[Mapping[str, frozenset[str]]] = {
    "fetch": frozenset(),
    "pull": frozenset(),
    "clone": frozenset(),
    "ls-remote": frozenset(),
    "reflog": frozenset(),
    "fsck": frozenset(),
    "log": frozenset({"--all", "--reflog", "-g", "--walk-reflogs", "--branches", "--remotes"}),
    "rev-list": frozenset({"--all", "--reflog", "--branches", "--remotes"}),
    "branch": frozenset({"-a", "--all", "-r", "--remotes"}),
}
"""Subcommands of git that look beyond the commit that is checked out, with what makes them so."""


def leaks_in(events: Sequence[SessionEvent], task: EvalTask) -> tuple[str, ...]:
    """Return a line for each leak in a session, with the number of the event that shows it.

    Looking for later commits and for the network counts even where there was nothing to find:
    it is what the agent would have done. What failed for lack of a network is told as tried.

    Args:
        events: What happened.
        task: What it worked on.
    """
    results = {event.call_id: event for event in events if isinstance(event, Result)}
    found: dict[str, str] = {}
    written: list[str] = []
    for event in events:
        if isinstance(event, Call):
            result = results.get(event.id)
            for what in _looked(event):
                found.setdefault(what, f"event {event.number}: {_how(result)} {what}")
            written += _texts(event.input)
        elif isinstance(event, Result):
            for path in _seen(event, task, "\n".join(written)):
                found.setdefault(path, f"event {event.number}: saw the hidden file {path}")
    return tuple(found.values())


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _how(result: Result | None) -> str:
    went = result is not None and result.status is ResultStatus.OK
    return "used" if went else "tried to use"


def _looked(call: Call) -> Iterator[str]:
    """Yield what a call looks for beyond the workspace."""
    if call.operation is Operation.WEB:
        yield f"the network ({call.tool})"
    if call.operation is not Operation.SHELL or not call.command:
        return
    for command in simple_commands(call.command):
        words = program_words(command.words)
        if not words:
            continue
        name, rest = words[0], words[1:]
        if name in _REMOTE or (name in _FETCHERS and not _is_local(rest)):
            yield f"the network ({name})"
        elif name == "git":
            yield from _later(rest)


def _is_local(words: Sequence[str]) -> bool:
    urls = [word for word in words if "://" in word or word.startswith(tuple(_LOOPBACK))]
    return bool(urls) and all(_host(url) in _LOOPBACK for url in urls)


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""


def _later(words: Sequence[str]) -> Iterator[str]:
    plain = [word for word in words if not word.startswith("-")]
    subcommand = next((word for word in plain if word in _LATER), None)
    if subcommand is None:
        return
    needed = _LATER[subcommand]
    if not needed or needed.intersection(words):
        yield f"other commits (git {subcommand})"


def _seen(result: Result, task: EvalTask, written: str) -> Iterator[str]:
    """Yield the hidden files of which a result shows lines that the agent did not write itself."""
    for path, data in task.verifier.hidden.items():
        lines = telling_lines(data)
        seen = [line for line in lines if line in result.text and line not in written]
        if len(seen) >= min(ENOUGH, len(lines)) > 0:
            yield path
