"""Runs a verb for a tool: in a thread, with progress, and stopped when it is cancelled."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from fairtrial.analysis.progress import Progress
from fairtrial.app.bench import Bench
from fairtrial.engine.control import Control
from fairtrial.model.events import Event
from fairtrial.model.verdict import Verdict

_TELL_S: Final = 0.5

Tell = Callable[[float, float | None, str], Awaitable[None]]
"""Takes how much is done, of how much, and a line about it."""


async def run_verb(bench: Bench, function: Callable[..., Any], request: Any, tell: Tell) -> Any:
    """Return a verb's report.

    When the caller is cancelled, so is the run; it is waited for, and finished trials are kept.

    Args:
        bench: The server's bench; when its control is asked to stop, the run stops too.
        function: The verb.
        request: Its request.
        tell: Told how far it is, at most twice a second.
    """
    progress = Progress()
    control = Control()

    def see(event: Event) -> None:
        progress.see(event)
        bench.publish(event)

    used = dataclasses.replace(bench, publish=see, control=control)
    used.__dict__["store"] = bench.store
    with _following(bench.control, control):
        work = asyncio.create_task(asyncio.to_thread(function, used, request))
        try:
            await _telling(work, progress, tell)
        except asyncio.CancelledError:
            control.cancel("the client cancelled")
            with suppress(Exception):
                await _to_its_end(work)
            raise
    return work.result()


async def _telling(work: asyncio.Task[Any], progress: Progress, tell: Tell) -> None:
    told: tuple[float, float | None] | None = None
    while True:
        done, _ = await asyncio.wait({work}, timeout=_TELL_S)
        if done:
            return
        now = _standing(progress)
        if now is not None and now[:2] != told:
            told = now[:2]
            with suppress(Exception):  # nobody may be there to be told; the run goes on
                await tell(*now)


async def _to_its_end(work: asyncio.Task[Any]) -> None:
    """Wait for work whoever cancels meanwhile: a store must not be closed under a run."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait({work})


@contextmanager
def _following(server: Control, run: Control) -> Iterator[None]:
    """Stop a run when its server is asked to."""

    def asked() -> None:
        if server.drain_reason is not None:
            run.cancel(server.drain_reason)

    server.listen(asked)
    try:
        asked()
        yield
    finally:
        server.unlisten(asked)


def _standing(progress: Progress) -> tuple[float, float | None, str] | None:
    if progress.judging is not None and not progress.planned:
        judging = progress.judging
        text = f"{judging.done:,} of {judging.planned:,} judged"
        return float(judging.done), float(judging.planned), text
    if not progress.planned:
        return None
    done = progress.kept + progress.verdicts.total()
    counts = ", ".join(
        f"{progress.verdicts[verdict]:,} {verdict.value}"
        for verdict in Verdict
        if progress.verdicts[verdict]
    )
    text = f"{done:,} of {progress.planned:,} trials" + (f": {counts}" if counts else "")
    if progress.cost_usd is not None:
        text += f", ${progress.cost_usd:,.2f}"
    return float(done), float(progress.planned), text
