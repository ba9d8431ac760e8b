"""Brings what hooks left into the store: snapshots, and the transcripts of sessions."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from fairtrial.app.bench import Bench
from fairtrial.app.captured import bring_snapshots
from fairtrial.app.requests.sessions_sync import Request as SyncRequest
from fairtrial.app.sessions_sync import read_transcripts
from fairtrial.model.errors import FairtrialError, NotFoundError
from fairtrial.sessions.capture.folder import CaptureFolder

_QUIET_S: Final = 0.3
_MOST_WAITING_S: Final = 2.0
_MOST_ROUNDS: Final = 100


def settle(bench: Bench, sleep: Callable[[float], None] = time.sleep) -> None:
    """Bring all that hooks left into the store; what fails stays, and is told to `doctor`.

    Only one process at a time does it; another one that comes meanwhile leaves it to that one.

    Args:
        bench: The bench.
        sleep: Waits.
    """
    folder = CaptureFolder(bench.home)
    for _ in range(_MOST_ROUNDS):
        with folder.settling() as alone:
            if not alone or not _round(bench, folder, sleep):
                return
        # What came while the lock was held by us, and so was left to us.
        if not any(folder.finished()) and not any(folder.snapshots()):
            break
    folder.forget_old(bench.clock.now().timestamp())


def _round(bench: Bench, folder: CaptureFolder, sleep: Callable[[float], None]) -> bool:
    """Do what there is to do now; return whether all of it was done."""
    done = [_tried(bench, "snapshots", partial(bring_snapshots, bench))]
    for file, facts in list(folder.finished()):
        agent = str(facts.get("agent", "fairtrial"))
        try:
            taken = folder.take(file)
        except OSError:
            continue  # a `sessions sync` was faster
        done.append(_tried(bench, "transcript", partial(_read, bench, facts, sleep), agent))
        if done[-1]:
            taken.unlink(missing_ok=True)
    done.append(_tried(bench, "snapshots", partial(_complete, bench)))
    return all(done)


def _tried(bench: Bench, part: str, work: Callable[[], None], agent: str = "fairtrial") -> bool:
    try:
        work()
    except (FairtrialError, OSError) as error:
        with suppress(OSError):
            CaptureFolder(bench.home).tell_error(agent, part, str(error), bench.clock.now())
        return False
    return True


def _read(bench: Bench, facts: dict[str, Any], sleep: Callable[[float], None]) -> None:
    given, agent = facts.get("transcript"), str(facts.get("agent"))
    if not given:
        read_transcripts(bench, SyncRequest(agent=agent))
        return
    transcript = Path(given)
    _wait_until_quiet(transcript, sleep)
    # Claude Code keeps the transcripts of subagents in a folder beside.
    beside = transcript.with_suffix("")
    paths = (transcript, beside) if beside.is_dir() else (transcript,)
    with suppress(NotFoundError):  # a session without a turn has none
        read_transcripts(bench, SyncRequest(path=paths))


def _wait_until_quiet(transcript: Path, sleep: Callable[[float], None]) -> None:
    """Wait a moment for what the agent writes after it told of its end."""
    waited = 0.0
    while waited < _MOST_WAITING_S:
        try:
            age_s = time.time() - transcript.stat().st_mtime
        except OSError:
            return
        if not 0 <= age_s < _QUIET_S:
            return
        sleep(_QUIET_S / 3)
        waited += _QUIET_S / 3


def _complete(bench: Bench) -> None:
    from fairtrial.workspaces.snapshots.files import GitSnapshotFiles  # noqa: PLC0415  # as above

    GitSnapshotFiles(bench.home, bench.environ).complete()
