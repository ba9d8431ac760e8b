"""The workspace of level `none`, as the runner sees it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from fairtrial.model.errors import Undecidable
from fairtrial.ports import ProcessCall, ProcessResult
from fairtrial.workspaces.host import descendants, outcome, wire
from fairtrial.workspaces.host.links import GuardLink, LaneLink, LaneLostError
from fairtrial.workspaces.host.program import TERM_GRACE_S

_T = TypeVar("_T")
_PATIENCE_S = TERM_GRACE_S + descendants.GIVE_UP_S + 5.0


class HostWorkspace:
    """Runs programs on the host, `slots` at a time, and leaves nothing of them behind.

    Descendants are found by parentage, so neither a new session, nor a double fork, nor an
    emptied environment hides one. What another service starts on a program's behalf (a container
    daemon, `at`, `systemd-run`) is no descendant. Beyond Linux an orphan that left its process
    group can escape; see `descendants`.

    At the time limit and on a cancel a program gets SIGTERM and `TERM_GRACE_S` to clean up, then
    SIGKILL goes to everything. A peak memory is never below that of a lane (about 10 MB), since
    the kernel carries the figure over from the process that starts a program.

    Args:
        slots: How many programs run at once; further calls wait.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._free = asyncio.Semaphore(slots)
        self._guard: GuardLink | None = None
        self._lanes: set[LaneLink] = set()
        self._idle: list[LaneLink] = []
        self._open = False

    async def open(self) -> None:
        """Start the guard, without waiting for it."""
        if not self._open:
            self._free = asyncio.Semaphore(self._slots)
            self._guard = _start_guard()
            self._open = True

    async def run(self, call: ProcessCall) -> ProcessResult:
        """Run a program to its end; see `Workspace.run`."""
        head = outcome.request(call)
        async with self._free:
            guard, lane, reply = await self._begin(head, call.stdin)
            try:
                frame = await self._answer(guard, lane, reply)
            except LaneLostError:
                await _uninterrupted(self._lane_lost(guard, lane))
                raise Undecidable(self._loss(call)) from None
            finally:
                self._give_back(guard, lane)
        return outcome.result(call, frame)

    async def close(self) -> None:
        """Kill what still runs, and wait until guard and lanes are gone. Safe to repeat."""
        self._open = False
        guard, self._guard = self._guard, None
        lanes, self._lanes, self._idle = self._lanes, set(), []
        for lane in lanes:
            lane.hang_up()
        if guard is not None:
            await guard.close(_PATIENCE_S)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for lane in lanes:
                    await lane.ended()
        for lane in lanes:
            lane.lose()

    async def _begin(
        self, head: bytes, stdin: bytes
    ) -> tuple[GuardLink, LaneLink, asyncio.Future[wire.Frame]]:
        """Send a request to an idle or new lane, past all that turn out to be dead."""
        while True:
            guard = await self._living_guard()
            try:
                if not self._idle and not self._add_lane(guard):
                    continue
                lane = self._idle[-1]
                reply = lane.ask(head, stdin)
            except OSError as problem:
                raise Undecidable(
                    f"the machine could not pass a program on ({problem}): run less at once"
                ) from problem
            self._idle.pop()
            if reply is not None:
                return guard, lane, reply

    def _add_lane(self, guard: GuardLink) -> bool:
        lane = guard.fork_lane()
        if lane is None:
            return False
        self._lanes = {known for known in self._lanes if not known.lost} | {lane}
        self._idle.append(lane)
        return True

    async def _living_guard(self) -> GuardLink:
        guard = self._guard
        if not self._open or guard is None:
            raise Undecidable("the workspace is closed: open it before a program runs")
        if guard.lost:  # nobody would inherit what its lanes leave: replace them too
            lost, guard = guard, _start_guard()
            self._guard = guard
            for lane in self._idle:
                lane.hang_up()
            self._idle.clear()
            await lost.close(_PATIENCE_S)
        self._idle = [lane for lane in self._idle if not lane.lost]
        return guard

    def _give_back(self, guard: GuardLink, lane: LaneLink) -> None:
        if lane.busy or guard.lost or guard is not self._guard:
            lane.hang_up()
        elif not lane.lost:
            self._idle.append(lane)

    async def _answer(
        self, guard: GuardLink, lane: LaneLink, reply: asyncio.Future[wire.Frame]
    ) -> wire.Frame:
        try:
            return await reply
        except asyncio.CancelledError:
            if lane.busy or lane.lost:
                await _uninterrupted(self._settle(guard, lane))
            raise

    async def _settle(self, guard: GuardLink, lane: LaneLink) -> None:
        if not lane.lost:
            ended = lane.expect()
            lane.cancel()
            await asyncio.wait({ended}, timeout=_PATIENCE_S)
            if not ended.done():
                lane.lose()
            if ended.exception() is None:
                return
        await self._lane_lost(guard, lane)

    async def _lane_lost(self, guard: GuardLink, lane: LaneLink) -> None:
        survivors = await guard.gone(lane, _PATIENCE_S)
        if survivors:
            raise Undecidable(f"{survivors} processes cannot be killed: end them by hand")

    def _loss(self, call: ProcessCall) -> str:
        if not self._open:
            return f"the workspace was closed while {call.argv[0]!r} ran"
        return (
            f"the process that ran {call.argv[0]!r} was killed from outside (by a user, or because "
            "memory ran out): run this again"
        )


async def _uninterrupted(work: Coroutine[Any, Any, _T]) -> _T:
    """Wait for `work` to end whatever happens; a cancel meanwhile takes effect afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as cancel:
            cancelled = cancel
    if cancelled is not None:
        raise cancelled
    return task.result()


def _start_guard() -> GuardLink:
    try:
        return GuardLink()
    except OSError as problem:
        raise Undecidable(f"the process that runs programs did not start: {problem}") from problem
