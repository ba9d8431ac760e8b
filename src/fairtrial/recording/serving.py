"""A proxy that works until it is asked to stop, or until the program that it serves ends."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fairtrial.model.errors import NotFoundError
from fairtrial.recording.proxy import RecordingProxy

_LOOK_S = 0.05


class Stops(Protocol):
    """How it is asked to stop."""

    @property
    def drain_reason(self) -> str | None:
        """Why no new call is taken; None while they are."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether the calls under way are to be ended too."""
        ...

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change."""
        ...


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run while the proxy works.

    Attributes:
        argv: Its words, given the address of the proxy.
        env: Its environment, given the variables that lead to the proxy.
    """

    argv: Callable[[Mapping[str, str]], Sequence[str]]
    env: Callable[[Mapping[str, str]], Mapping[str, str]]


def serve(
    proxy: RecordingProxy,
    address: tuple[str, int],
    stops: Stops,
    started: Callable[[], None],
    program: Program | None = None,
) -> int | None:
    """Let a proxy work; calls under way when it ends are waited for, unless told otherwise.

    Args:
        proxy: The proxy.
        address: Host and port to listen on; port 0 is any that is free.
        stops: How it is asked to stop.
        started: Called once it listens.
        program: What to run meanwhile; the proxy ends with it.

    Returns:
        The program's exit status (128 and the number of a signal that ended it); None without one.

    Raises:
        UsageError: the address cannot be had.
        NotFoundError: the program cannot be started.
        StoreError: calls could not be stored.
    """
    return asyncio.run(_serve(proxy, address, stops, started, program))


async def _serve(
    proxy: RecordingProxy,
    address: tuple[str, int],
    stops: Stops,
    started: Callable[[], None],
    program: Program | None,
) -> int | None:
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(changed.set)

    stops.listen(wake)
    await proxy.start(*address)
    try:
        started()
        status = None
        if program is not None:
            status = await _run(proxy, program, stops, changed)
        elif stops.drain_reason is None:
            await changed.wait()
        while proxy.drain() and not stops.cancelled:  # noqa: ASYNC110  # see below
            await asyncio.sleep(_LOOK_S)  # a call ends in many ways; none has to tell
    finally:
        await proxy.stop()
    return status


async def _run(
    proxy: RecordingProxy, program: Program, stops: Stops, changed: asyncio.Event
) -> int:
    variables = proxy.environ()
    argv = program.argv(variables)
    try:
        process = subprocess.Popen(argv, env=dict(program.env(variables)))  # noqa: ASYNC220, S603  # the user's own
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NotFoundError(
            f"{argv[0]!r} cannot be run",
            why=reason,
            fix="write the command as in a shell, after --",
        ) from None
    ended = asyncio.create_task(asyncio.to_thread(process.wait))
    while not ended.done():
        # Ctrl-C reaches the program by itself; what it makes of it is its own business.
        waiting = asyncio.create_task(changed.wait())
        await asyncio.wait({ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        changed.clear()
        if stops.cancelled and not ended.done():
            process.terminate()
    status = ended.result()
    return status if status >= 0 else 128 - status
