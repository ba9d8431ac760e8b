"""A Python function grades, sync or async."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import copy
import functools
import importlib
import inspect
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from fairtrial.graders.answers import grade_in
from fairtrial.model.errors import GraderError, UsageError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 0.5

Outcome: TypeAlias = Callable[[], Any]
"""Gives what a call returned, or raises what it raised."""

# A function that calls sys.exit() must not end the run.
_CRASHES = (Exception, SystemExit)


@dataclass(frozen=True)
class Options:
    """Options of a python grader."""

    function: str
    """`module:function`; the module is found in the spec's folder first. Called with `(output,
    expected)`, with `(output)`, or with the whole `(subject)` when its one parameter has that name;
    returns a number, a boolean, a `Grade`, or a dict with `score` and `reason`."""
    timeout: Annotated[float, Meta(gt=0, le=86400)] = 60.0
    """Seconds it may take; over it there is no score. A function that is not async runs on in its
    thread, unheard."""


@dataclass(frozen=True, slots=True)
class Python:
    """Calls a function of the user: in a thread, unless it is async."""

    spec: GraderSpec
    options: Options
    function: Callable[..., Any]
    takes: str
    file: str

    async def open(self) -> None:
        """Do nothing: the function was imported when the grader was built."""

    async def grade(self, subject: Subject) -> Grade:
        """Call the function.

        Raises:
            GraderError: it raised, or returned something else than a score.
        """
        call = functools.partial(self.function, *self._arguments(subject))
        try:
            async with asyncio.timeout(self.options.timeout) as limit:
                answer = call() if _is_async(self.function) else (await _in_thread(call))()
                if inspect.isawaitable(answer):
                    answer = await answer
        except GraderError:
            raise
        except TimeoutError as error:
            if limit.expired():
                raise GraderError(f"no answer within {self.options.timeout:g} s") from None
            raise GraderError(_told(error, self.file)) from error
        except _CRASHES as error:
            raise GraderError(_told(error, self.file)) from error
        if isinstance(answer, Grade):
            return answer if answer.value is None else grade_in(_as_mapping(answer))
        if isinstance(answer, bool):
            return Grade(float(answer), f"returned {answer}")
        return grade_in(answer)

    async def close(self) -> None:
        """Do nothing."""

    def _arguments(self, subject: Subject) -> tuple[Any, ...]:
        # Copies: what one function changes, no other grader and no other trial may see.
        try:
            if self.takes == "subject":
                return (copy.deepcopy(subject),)
            if self.takes == "output":
                return (copy.deepcopy(subject.output),)
            return (copy.deepcopy(subject.output), copy.deepcopy(subject.case.expected))
        except RecursionError:
            raise GraderError("the output is nested too deeply to be handed over") from None


async def _in_thread(call: Callable[[], Any]) -> Outcome:
    # A daemon of its own for each call: a pool's threads are joined at exit, so that one function
    # that never returns would keep the program alive.
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()

    def work() -> None:
        outcome = _outcome(call)
        # When nobody waits any more, the loop may be closed.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, future, outcome)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), daemon=True).start()
    return await future


def _settle(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)


def _outcome(call: Callable[[], Any]) -> Outcome:
    # A future cannot carry StopIteration, and SystemExit would end the event loop.
    try:
        value = call()
    except BaseException as error:  # noqa: BLE001  # raised again where it is awaited
        return functools.partial(_raise, error)
    return lambda: value


def _raise(error: BaseException) -> None:
    raise error


def _as_mapping(grade: Grade) -> dict[str, Any]:
    return {"score": grade.value, "reason": grade.reason}


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object with an async __call__
    )


def _told(error: BaseException, file: str) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file] or list(frames)
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno} in {own[-1].name})" if own else ""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # the user's __str__ may be broken as well
        text = ""
    return f"raised {type(error).__name__}{': ' if text else ''}{text[:180]}{place}"


def _takes(function: Callable[..., Any], where: str) -> str:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "output, expected"  # some built-in functions have no signature
    if [*signature.parameters] == ["subject"]:
        return "subject"
    for takes, arguments in (("output, expected", (0, 0)), ("output", (0,))):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return takes
    raise UsageError(
        f"the function's signature is {signature}",
        where=where,
        fix="let it take (output, expected), (output) or (subject)",
    )


def _load(module: str, base_dir: Path) -> Any:
    # For good: what the function imports when it runs is found in the same place.
    folder = str(base_dir.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    importlib.invalidate_caches()
    return importlib.import_module(module)


def build(spec: GraderSpec, options: Options, surroundings: Surroundings, where: str) -> Python:
    """Return the grader, with its function imported.

    Raises:
        UsageError: the function cannot be imported or called.
    """
    module, colon, name = options.function.rpartition(":")
    if not (colon and module and name) or "/" in module or module.endswith(".py"):
        raise UsageError(
            f"{options.function!r} names no function",
            where=where,
            fix="write module:function; the module is found in the spec's folder first",
        )
    try:
        loaded = _load(module, surroundings.base_dir)
    except _CRASHES as error:
        raise UsageError(
            f"{module!r} could not be imported", where=where, why=_told(error, "")
        ) from error
    function = loaded
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise UsageError(f"{module!r} has no function {name!r}", where=where)
    file = getattr(loaded, "__file__", None) or ""
    return Python(spec, options, function, _takes(function, where), file)
