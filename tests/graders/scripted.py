"""A provider and a clock whose answers and waits a test holds in its hands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from fairtrial.model.call import ModelCall, ModelReply, WireCall
from fairtrial.model.json import Json
from fairtrial.ports import Clock, Provider


class Stopwatch(Clock):
    """A clock that notes how long it was asked to wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 5, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


class Scripted(Provider):
    """A provider whose answers, or errors, are given one by one."""

    def __init__(self, *answers: str | Exception | ModelReply) -> None:
        self.answers: Iterator[str | Exception | ModelReply] = iter(answers)
        self.calls: list[ModelCall] = []

    @property
    def identity(self) -> Json:
        return "scripted"

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def complete(self, call: ModelCall) -> ModelReply:
        self.calls.append(call)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else ModelReply(answer, "m", cost_usd=0.5)

    async def send(self, call: WireCall) -> ModelReply:
        raise NotImplementedError(call)
