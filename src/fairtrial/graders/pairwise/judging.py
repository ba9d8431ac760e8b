"""Judges all pairs of a comparison: several at a time, and nothing that was answered before."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fairtrial.engine.retry import HOPELESS
from fairtrial.graders.pairwise.judge import PairwiseJudge
from fairtrial.model.errors import InfraError
from fairtrial.model.pairwise import Answer, JudgedPair, Pair
from fairtrial.ports import Workspace


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast pairs are judged, and when to stop.

    Attributes:
        concurrency: Pairs at a time.
        stop_after_infra: Pairs in a row that infrastructure may take before no more are asked
            about; a refused login and a spent limit stop at once.
    """

    concurrency: int = 4
    stop_after_infra: int = 5


def judge_pairs(
    judge: PairwiseJudge,
    pairs: Iterable[Pair],
    pace: Pace,
    seen: Callable[[JudgedPair], None] = lambda _: None,
    workspace: Workspace | None = None,
) -> list[JudgedPair]:
    """Return what a judge says of pairs, in their order.

    With a provider that keeps answers, what is interrupted goes on where it was.

    Args:
        judge: The judge.
        pairs: What to judge.
        pace: How fast.
        seen: Takes each pair as it is judged.
        workspace: Where the provider's programs run; it is closed.
    """
    return asyncio.run(_Judging(judge, pace, seen).all(list(pairs), workspace))


class _Judging:
    def __init__(
        self, judge: PairwiseJudge, pace: Pace, seen: Callable[[JudgedPair], None]
    ) -> None:
        self._judge = judge
        self._pace = pace
        self._seen = seen
        self._streak = 0
        self._stopped: str | None = None

    async def all(self, pairs: list[Pair], workspace: Workspace | None) -> list[JudgedPair]:
        done: dict[int, JudgedPair] = {}
        provider = self._judge.provider
        try:
            await self._open()
            source = iter(enumerate(pairs))
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._pace.concurrency, len(pairs))):
                    group.create_task(self._slot(source, done))
        except* Exception as errors:  # noqa: BLE001  # the first is what ended it
            raise errors.exceptions[0] from None
        finally:
            await provider.close()
            if workspace is not None:
                await workspace.close()
        return [done[index] for index in range(len(pairs))]

    async def _open(self) -> None:
        try:
            await self._judge.provider.open()
        except InfraError as error:
            self._stopped = str(error)

    async def _slot(self, source: Iterator[tuple[int, Pair]], done: dict[int, JudgedPair]) -> None:
        for index, pair in source:
            done[index] = await self._judged(pair)
            self._seen(done[index])

    async def _judged(self, pair: Pair) -> JudgedPair:
        a_first = await self._answer(pair, a_first=True)
        b_first = await self._answer(pair, a_first=False)
        self._watch(a_first, b_first)
        return JudgedPair(pair.key, a_first, b_first)

    async def _answer(self, pair: Pair, *, a_first: bool) -> Answer:
        if self._stopped is not None:
            return Answer(None, f"not asked: {self._stopped}", "stopped")
        return await self._judge.ask(pair, a_first=a_first)

    def _watch(self, *answers: Answer) -> None:
        """Stop asking when the world is down: a thousand more calls would fail as well."""
        failed = [answer for answer in answers if answer.infra is not None]
        self._streak = self._streak + 1 if failed else 0
        final = next((answer.reason for answer in failed if answer.infra in HOPELESS), None)
        if self._stopped is None and final is not None:
            self._stopped = final
        limit = self._pace.stop_after_infra
        if self._stopped is None and limit and self._streak >= limit:
            self._stopped = f"{limit} pairs in a row failed, the last: {failed[-1].reason}"
