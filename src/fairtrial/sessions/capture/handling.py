"""What capture does at each event of a session.

A session's start and its prompts take a snapshot before the agent changes anything; the end of a
turn takes one of what came of it, and has the transcript read. A tool that can change files takes
one only if there is none yet: hooks were installed in the middle of the session, or the snapshot
at its start failed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from fairtrial.sessions.capture.folder import CaptureFolder
from fairtrial.sessions.capture.payload import HookEvent, Kind

if TYPE_CHECKING:  # tool events go without
    from fairtrial.model.snapshot import Moment
    from fairtrial.workspaces.snapshots.taking import Trees

IDLE_S: Final = 10.0
"""A first prompt within this time after the start takes none: nobody has edited meanwhile."""
_JUST_NOW_S: Final = 3.0
"""The end of a session within this time after that of its last turn brings nothing new."""


@dataclass(frozen=True, slots=True)
class Capture:
    """What handles events.

    Attributes:
        home: Folder of fairtrial's data.
        environ: The environment of this process.
        now: The time.
        new_id: Makes the id of a snapshot.
        limit_s: Seconds for all that holds up the agent.
        settle: Starts what brings things into the store, and does not wait for it.
    """

    home: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    limit_s: float
    settle: Callable[[], None]

    def handle(self, event: HookEvent) -> None:
        """Do what an event asks for.

        Raises:
            OSError: nothing can be written to the data folder, or another hook took too long.
            SnapshotFailedError: the snapshot could not be taken.
        """
        folder = CaptureFolder(self.home)
        folder.saw(event.agent, event.name, self.now())
        if event.kind is Kind.TOOL and "taken_at" in folder.session(event.agent, event.native_id):
            return
        if event.kind is Kind.END:
            # Agents give this event little time: what matters most comes first.
            self._finish(event, folder)
            if self._take(event, folder):
                self.settle()
            return
        try:
            self._take(event, folder)
        finally:
            if event.kind is Kind.STOP:
                self._finish(event, folder)

    def _finish(self, event: HookEvent, folder: CaptureFolder) -> None:
        folder.finish(event.agent, event.native_id, event.transcript)
        self.settle()

    def _take(self, event: HookEvent, folder: CaptureFolder) -> bool:
        """Take a snapshot if one is due; return whether there is a new one."""
        end = monotonic() + self.limit_s
        with folder.holding(event.agent, event.native_id, self.limit_s):
            known = folder.session(event.agent, event.native_id)
            now = self.now()
            if self._is_fresh(event, known, now):
                return False
            after: dict[str, Any] = {
                "taken_at": now.isoformat(),
                "trees": None,
                "kind": event.kind.value,
            }
            try:
                after["trees"] = self._snapshot(event, folder, known, end - monotonic())
            except Exception:
                # A prompt tries again, and one tool: not each of many is held up.
                if event.kind is Kind.TOOL:
                    folder.set_session(event.agent, event.native_id, known | after)
                raise
            folder.set_session(event.agent, event.native_id, known | after)
            return bool(after["trees"] != known.get("trees"))

    def _is_fresh(self, event: HookEvent, known: Mapping[str, Any], now: datetime) -> bool:
        """Return whether the last snapshot of the session will do."""
        if "taken_at" not in known:
            return False
        if event.kind is Kind.TOOL:  # another tool of the same message was faster
            return True
        age_s = (now - datetime.fromisoformat(known["taken_at"])).total_seconds()
        if event.kind is Kind.PROMPT:
            return known.get("kind") == Kind.START.value and 0 <= age_s < IDLE_S
        stopped = known.get("kind") in (Kind.STOP.value, Kind.END.value)
        return event.kind is Kind.END and stopped and 0 <= age_s < _JUST_NOW_S

    def _snapshot(
        self, event: HookEvent, folder: CaptureFolder, known: Mapping[str, Any], left_s: float
    ) -> list[str | None] | str:
        """Take a snapshot unless nothing changed since the last one; return its trees.

        Where none can be taken, as outside of a repository, that is no failure: the reason is
        returned.
        """
        # Half of the time that a hook takes to start, which tools need not spend.
        from fairtrial.workspaces.snapshots.files import (  # noqa: PLC0415
            NoSnapshotError,
            Occasion,
            Taker,
            snapshot_of,
        )

        try:
            taker = Taker(self.home, self.environ, left_s)
            repository = taker.find(Path(event.cwd))
        except NoSnapshotError as error:
            return str(error)
        trees: list[str | None] = []

        def is_known(taken: Trees) -> bool:
            trees[:] = [repository.key, repository.head, taken.index, taken.files]
            return trees == known.get("trees")

        taken = taker.take(repository, self.new_id, is_known)
        if taken is not None:
            snapshot_id, held = taken
            moment = _moment(event, known)
            session = (event.agent, event.native_id)
            snapshot = snapshot_of(
                repository, held, Occasion(snapshot_id, *session, moment, self.now())
            )
            facts = {**asdict(snapshot), "taken_at": snapshot.taken_at.isoformat()}
            folder.add_snapshot(snapshot.id, facts)
        return trees


def _moment(event: HookEvent, known: Mapping[str, Any]) -> Moment:
    from fairtrial.model.snapshot import Moment as When  # noqa: PLC0415  # see `_snapshot`

    if event.kind in (Kind.STOP, Kind.END):
        return When.STOP
    first = event.kind is Kind.START or "taken_at" not in known
    return When.START if first else When.PROMPT
