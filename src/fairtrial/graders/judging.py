"""Grades outputs outside of a run, several at a time: what a judge is held against people with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence

from fairtrial.analysis.verdict import score_missing
from fairtrial.graders.grading import grade_all
from fairtrial.model.errors import InfraError
from fairtrial.model.grader import Subject
from fairtrial.model.score import Score
from fairtrial.ports import Grader, Workspace


def judge_outputs(
    grader: Grader,
    subjects: Sequence[Subject],
    workspace: Workspace,
    concurrency: int,
    seen: Callable[[Score], None],
) -> list[Score]:
    """Return one score an output, in their order; what could not be graded is a missing score.

    Once a login is refused or a quota spent, nothing more is asked.

    Args:
        grader: The grader; it is opened and closed.
        subjects: The outputs.
        workspace: Where its programs run; it is closed.
        concurrency: Outputs at a time.
        seen: Takes each score as it comes.

    Raises:
        InfraError: the grader cannot be opened.
    """
    return asyncio.run(_Judging(grader, concurrency, seen).all(subjects, workspace))


class _Judging:
    def __init__(self, grader: Grader, concurrency: int, seen: Callable[[Score], None]) -> None:
        self._grader = grader
        self._concurrency = concurrency
        self._seen = seen
        self._stopped: str | None = None

    async def all(self, subjects: Sequence[Subject], workspace: Workspace) -> list[Score]:
        done: dict[int, Score] = {}
        source = iter(enumerate(subjects))
        try:
            await self._grader.open()
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._concurrency, len(subjects))):
                    group.create_task(self._slot(source, done))
        except* Exception as errors:  # noqa: BLE001  # the first is what ended it
            raise errors.exceptions[0] from None
        finally:
            await self._grader.close()
            await workspace.close()
        return [done[place] for place in range(len(subjects))]

    async def _slot(self, source: Iterator[tuple[int, Subject]], done: dict[int, Score]) -> None:
        for place, subject in source:
            done[place] = await self._score(subject)
            self._seen(done[place])

    async def _score(self, subject: Subject) -> Score:
        if self._stopped is not None:
            return score_missing(self._grader.spec, f"not asked: {self._stopped}")
        try:
            return (await grade_all([self._grader], subject))[0]
        except InfraError as error:
            self._stopped = str(error)
            return score_missing(self._grader.spec, str(error))
