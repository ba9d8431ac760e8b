"""Threads for blocking calls: reused, bounded, and left behind when they must be."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from functools import partial

import pytest

from fairtrial.functions.threads import CallThreads


def test_threads_are_reused() -> None:
    async def main() -> set[int]:
        threads = CallThreads()
        used = {(await threads.call(threading.get_ident)).value for _ in range(50)}
        threads.close()
        return used

    assert len(asyncio.run(main())) == 1


def test_calls_beyond_the_bound_wait() -> None:
    async def main() -> tuple[set[int], list[int]]:
        threads = CallThreads(most=2)

        def work(number: int) -> tuple[int, int]:
            time.sleep(0.01)
            return threading.get_ident(), number

        outcomes = await asyncio.gather(*(threads.call(partial(work, n)) for n in range(8)))
        threads.close()
        values = [outcome.value for outcome in outcomes]
        return {ident for ident, _ in values}, [number for _, number in values]

    used, numbers = asyncio.run(main())
    assert len(used) <= 2
    assert numbers == list(range(8))


def test_an_abandoned_call_takes_no_place() -> None:
    async def main() -> None:
        threads = CallThreads(most=1)
        go_on = threading.Event()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(threads.call(go_on.wait), 0.05)
        assert threads.abandoned == 1
        assert (await asyncio.wait_for(threads.call(lambda: 5), 5)).value == 5
        go_on.set()
        while threads.abandoned:  # noqa: ASYNC110  # nothing tells of the end of an abandoned call
            await asyncio.sleep(0.001)
        threads.close()

    asyncio.run(main())


def test_a_call_cancelled_before_its_turn_never_runs() -> None:
    async def main() -> list[str]:
        threads = CallThreads(most=1)
        ran: list[str] = []
        first = asyncio.ensure_future(threads.call(lambda: time.sleep(0.1)))
        await asyncio.sleep(0)
        # The second waits for the only thread; the third comes after it.
        second = asyncio.ensure_future(threads.call(lambda: ran.append("second")))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.wait([first, second])
        await threads.call(lambda: ran.append("third"))
        threads.close()
        return ran

    assert asyncio.run(main()) == ["third"]


def test_context_variables_come_along() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

    async def main() -> None:
        threads = CallThreads()
        variable.set("mine")
        assert (await threads.call(variable.get)).value == "mine"
        threads.close()

    asyncio.run(main())


def test_an_exception_of_any_class_is_an_outcome() -> None:
    async def main() -> None:
        threads = CallThreads()
        for error in (ValueError(), StopIteration(), SystemExit(), KeyboardInterrupt()):

            def work(error: BaseException = error) -> None:
                raise error

            assert (await threads.call(work)).error is error
        threads.close()

    asyncio.run(main())


def test_idle_threads_end_after_close() -> None:
    async def main() -> list[threading.Thread]:
        threads = CallThreads()
        before = set(threading.enumerate())
        await asyncio.gather(*(threads.call(lambda: time.sleep(0.01)) for _ in range(5)))
        started = [thread for thread in threading.enumerate() if thread not in before]
        assert len(started) == 5
        threads.close()
        return started

    for thread in asyncio.run(main()):
        thread.join(5)
        assert not thread.is_alive()
