"""What agents call at each event of a session. It never disturbs them.

It prints nothing, ends with 0 whatever happens, takes a few seconds at most, and leaves what takes
longer to a process of its own. What goes wrong is kept for `fairtrial doctor`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

SNAPSHOT_LIMIT_S: Final = 8.0
HOOK_LIMIT_S: Final = 10.0
"""Less than the time that the agents' settings allow; see `capture.hook_entries`."""
_MOST_INPUT: Final = 64 * 1024 * 1024
_OFF: Final = ("0", "off", "no", "false")


_HELP: Final = """\
fairtrial hook is what Claude Code and Codex call while a session goes on.

It reads an event from standard input and prints nothing. `fairtrial init` puts it
into their settings; `fairtrial doctor` tells whether it works.
"""


class _TooLongError(Exception):
    """The hook took longer than it may."""


def hook(words: Sequence[str]) -> int:
    """Handle one event, or bring what hooks left into the store; return 0.

    Args:
        words: `--agent NAME`, then `--home FOLDER` or nothing; `--settle` in place of the agent;
            Codex's `notify` adds its event as the last word.
    """
    if "--help" in words or "-h" in words:
        sys.stdout.write(_HELP)
        return 0
    environ = dict(os.environ)
    if environ.get("FAIRTRIAL_CAPTURE", "").lower() in _OFF:
        return 0
    _be_silent()
    # Ctrl-C is meant for the agent; what it did until then is still kept.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(Exception):  # nothing that happens here is the agent's concern
        home = _home(words, environ)
        if "--settle" in words:
            _settle(home, environ)
        else:
            _handle(words, home, environ)
    return 0


def _be_silent() -> None:
    """Let nothing that is printed reach the agent, which would read it."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)


def _home(words: Sequence[str], environ: Mapping[str, str]) -> Path:
    given = environ.get("FAIRTRIAL_HOME") or _after("--home", words)
    if given:
        return Path(given).expanduser().absolute()
    from fairtrial.app.bench import home_here  # noqa: PLC0415  # installed hooks tell their home

    return home_here(environ)


def _after(flag: str, words: Sequence[str]) -> str | None:
    return next((after for word, after in pairwise(words) if word == flag), None)


def _handle(words: Sequence[str], home: Path, environ: Mapping[str, str]) -> None:
    from datetime import UTC, datetime  # noqa: PLC0415  # not needed when capture is off

    from fairtrial.sessions.capture.folder import CaptureFolder  # noqa: PLC0415
    from fairtrial.sessions.capture.handling import Capture  # noqa: PLC0415
    from fairtrial.sessions.capture.payload import event_of  # noqa: PLC0415

    def now() -> datetime:
        return datetime.now(UTC)

    agent, name = _after("--agent", words) or "unknown", "unknown"
    _limit_time()
    try:
        event = event_of(agent, _payload(words))
        if event is not None:
            name = event.name
            settle = _Settling(home, environ)
            Capture(home, environ, now, _new_id, SNAPSHOT_LIMIT_S, settle).handle(event)
    except Exception as error:  # noqa: BLE001  # whatever it is, the agent goes on
        signal.setitimer(signal.ITIMER_REAL, 0)
        what = str(error) or type(error).__name__
        CaptureFolder(home).tell_error(agent, name, what, now())


def _payload(words: Sequence[str]) -> object:
    import json  # noqa: PLC0415  # as above

    if words and words[-1].lstrip().startswith("{"):
        return json.loads(words[-1])
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("no agent tells of an event: standard input is no pipe")
    return json.loads(sys.stdin.buffer.read(_MOST_INPUT))


def _new_id() -> str:
    from ulid import ULID  # noqa: PLC0415  # only for what takes a snapshot

    return f"snap_{ULID()}"


def _limit_time() -> None:
    def give_up(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise _TooLongError(f"the hook took longer than {HOOK_LIMIT_S:.0f} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, HOOK_LIMIT_S)


class _Settling:
    """Starts what brings things into the store, apart from the agent and its end."""

    def __init__(self, home: Path, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ

    def __call__(self) -> None:
        """Start it."""
        words = [sys.executable, "-P", "-E", "-m", "fairtrial", "hook", "--settle"]
        subprocess.Popen(  # noqa: S603  # no shell; the words are ours
            [*words, "--home", str(self._home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._home,
            env=dict(self._environ),
            start_new_session=True,
        )


def _settle(home: Path, environ: Mapping[str, str]) -> None:
    from fairtrial.app.bench import Bench  # noqa: PLC0415  # hooks go without
    from fairtrial.app.capture_settling import settle  # noqa: PLC0415

    with suppress(OSError):
        os.nice(10)
    url = environ.get("FAIRTRIAL_STORE") or None
    bench = Bench(home=home, cwd=home, environ=environ, store_url=url)
    try:
        settle(bench)
    finally:
        bench.close()
