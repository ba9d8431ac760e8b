"""Judges all pairs of a comparison: several at a time, and nothing that was answered before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fairtrial.graders.pairwise.judge import PairwiseJudge
from fairtrial.model.errors import InfraError
from fairtrial.model.json import Json
from fairtrial.model.pairwise import Answer, JudgedPair, Pair, Winner
from fairtrial.ports import SettingsStore


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast pairs are judged, and when to stop.

    Attributes:
        concurrency: Pairs at a time.
        stop_after_infra: Pairs in a row that infrastructure may take before no more are asked
            about; a refused login stops at once.
    """

    concurrency: int = 4
    stop_after_infra: int = 5


def judge_pairs(
    judge: PairwiseJudge, pairs: Iterable[Pair], kept: SettingsStore, pace: Pace
) -> list[JudgedPair]:
    """Return what a judge says of pairs, in their order.

    Answers are kept as they come: what is interrupted goes on where it was, and the same question
    is never asked twice. An answer that could not be had is asked for again the next time.

    Args:
        judge: The judge.
        pairs: What to judge.
        kept: Where answers are kept.
        pace: How fast.
    """
    return asyncio.run(_Judging(judge, kept, pace).all(list(pairs)))


class _Judging:
    def __init__(self, judge: PairwiseJudge, kept: SettingsStore, pace: Pace) -> None:
        self._judge = judge
        self._kept = kept
        self._pace = pace
        self._streak = 0
        self._stopped: str | None = None

    async def all(self, pairs: list[Pair]) -> list[JudgedPair]:
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
        return [done[index] for index in range(len(pairs))]

    async def _open(self) -> None:
        try:
            await self._judge.provider.open()
        except InfraError as error:
            self._stopped = str(error)

    async def _slot(self, source: Iterator[tuple[int, Pair]], done: dict[int, JudgedPair]) -> None:
        for index, pair in source:
            done[index] = await self._judged(pair)

    async def _judged(self, pair: Pair) -> JudgedPair:
        key = self._judge.key(pair)
        known = self._kept.get(key) or {}
        a_first = await self._answer(pair, known, a_first=True)
        b_first = await self._answer(pair, known, a_first=False)
        self._keep(key, known, a_first, b_first)
        self._watch(a_first, b_first)
        return JudgedPair(pair.key, a_first, b_first)

    async def _answer(self, pair: Pair, known: Json, *, a_first: bool) -> Answer:
        found = known.get(_name(a_first=a_first))
        if found is not None:
            winner: Winner = found["winner"]
            return Answer(winner, found["reason"])
        if self._stopped is not None:
            return Answer(None, f"not asked: {self._stopped}", "stopped")
        return await self._judge.ask(pair, a_first=a_first)

    def _keep(self, key: str, known: Json, a_first: Answer, b_first: Answer) -> None:
        answers = {_name(a_first=True): a_first, _name(a_first=False): b_first}
        found = {
            name: {"winner": answer.winner, "reason": answer.reason}
            for name, answer in answers.items()
            if answer.winner is not None
        }
        if found and found != known:
            self._kept.set(key, found, self._judge.clock.now())

    def _watch(self, *answers: Answer) -> None:
        """Stop asking when the world is down: a thousand more calls would fail as well."""
        failed = [answer for answer in answers if answer.infra is not None]
        self._streak = self._streak + 1 if failed else 0
        login = next((answer.reason for answer in failed if answer.infra == "login"), None)
        if self._stopped is None and login is not None:
            self._stopped = login
        limit = self._pace.stop_after_infra
        if self._stopped is None and limit and self._streak >= limit:
            self._stopped = f"{limit} pairs in a row failed, the last: {failed[-1].reason}"


def _name(*, a_first: bool) -> str:
    return "a_first" if a_first else "b_first"
