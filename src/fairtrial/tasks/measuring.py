"""A command that is measured: what it takes, and the numbers that it prints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import ProcessResult
from fairtrial.tasks.command import CommandTask

MEASURED = ("wall_s", "cpu_s", "peak_rss_bytes")
"""What is measured of every run: seconds on the clock, seconds of CPU, peak memory."""

_DECODER = json.JSONDecoder()
_START_OF_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_SEARCHED = 1024 * 1024
"""Characters at the end of an output in which an object is looked for."""
_MOST_STARTS = 1_000
"""Lines tried, from the end; a log of braces must not cost quadratic time."""
_LARGEST = 1e100
"""Numbers beyond this are none: their squares and sums would overflow."""
_KEPT = 16 * 1024
"""Characters kept of an output without an object: enough to see what it was."""


@dataclass(frozen=True, slots=True)
class MeasuringTask:
    """Runs a command, and reports metrics: those it prints and those of `MEASURED`.

    A command's own number wins over ours of the same name: it may know what to leave out.

    Attributes:
        command: The command.
        time_limit_s: Seconds one run may take.
    """

    command: CommandTask
    time_limit_s: float

    async def open(self) -> None:
        """See `CommandTask.open`."""
        await self.command.open()

    async def run(self, call: TaskCall) -> TaskResult:
        """Run the command once."""
        call = replace(call, time_limit_s=self.time_limit_s)
        return self._result(await self.command.execute(call))

    async def close(self) -> None:
        """See `CommandTask.close`."""
        await self.command.close()

    def _result(self, ended: ProcessResult) -> TaskResult:
        answer = self._answer(ended)
        if answer.error is not None:
            return answer
        usage = ended.usage
        ours = (ended.duration_s, usage.cpu_s, float(usage.max_rss_bytes))
        missing = {
            name: value
            for name, value in zip(MEASURED, ours, strict=True)
            if name not in answer.metrics
        }
        return replace(answer, metrics={**answer.metrics, **missing})

    def _answer(self, ended: ProcessResult) -> TaskResult:
        if self.command.options.envelope:
            return self.command.result(ended, self.time_limit_s)
        text = ended.stdout.decode("utf-8", "replace")
        error = self.command.bad_ending(ended, self.time_limit_s)
        printed = None if error else last_object(text)
        return TaskResult(
            output=text[-_KEPT:] if printed is None else {k: _shown(v) for k, v in printed.items()},
            error=error,
            timed_out=ended.timed_out,
            metrics={} if printed is None else numbers_in(printed),
            process=ended.usage,
        )


def last_object(text: str) -> dict[str, Json] | None:
    """Return the last JSON object of a text that starts on a line of its own; None without one.

    Anything may stand before and after it. NaN and the infinities are read, as floats.
    """
    text = text[-_SEARCHED:]
    found: dict[str, Json] | None = None
    end = 0
    for match in list(_START_OF_OBJECT.finditer(text))[-_MOST_STARTS:]:
        if match.start() < end:  # inside of the one before
            continue
        try:
            found, end = _DECODER.raw_decode(text, match.end() - 1)
        except (ValueError, RecursionError):
            continue
    return found


def numbers_in(printed: Mapping[str, Json]) -> dict[str, float]:
    """Return the finite numbers of an object; texts, lists, NaN, 1e300 and the like are none."""
    finite = {}
    for name, value in printed.items():
        number = _number(value)
        if number is not None and abs(number) <= _LARGEST:  # NaN is not
            finite[name] = number
    return finite


def _number(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _shown(value: Json) -> Json:
    """Return a value as it can be stored: JSON knows no NaN, at any depth."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return str(value)
    return value
