"""Experiments whose later trials depend on earlier ones: they run stage by stage.

A design is a generator. It yields the trials of one stage; the engine runs all of them and resumes
it, with every outcome so far in the mapping that it was given. Because a stage ends before the
next is chosen, what runs depends on the outcomes and the seed alone: not on which trial happened
to end first, and not on how often the run was killed and resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import NamedTuple, TypeAlias

from fairtrial.engine.plan import Slot
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict


class TrialOutcome(NamedTuple):
    """What a design may know of a trial that ended.

    Attributes:
        verdict: Its verdict.
        score: Its main score.
        reruns: The verdicts of its reruns, when it failed and was run again to make sure.
    """

    verdict: Verdict
    score: float | None
    reruns: tuple[Verdict, ...] = ()


Outcomes: TypeAlias = Mapping[TrialKey, TrialOutcome]

Stages: TypeAlias = Generator[Iterable[Slot], None, str | None]
"""Yields the trials of each stage; returns why it ended before its plan did, or None.

A trial that a resumed run has on record may be yielded: it does not run again.
"""

Design: TypeAlias = Callable[[Outcomes], Stages]


def slot_key(slot: Slot) -> TrialKey:
    """Return the key of a planned trial."""
    return TrialKey(slot.case.id, slot.case.condition, slot.arm, slot.trial)


def outcome_of(trial: Trial) -> TrialOutcome:
    """Return what a design may know of a trial."""
    reruns = tuple(rerun.verdict for rerun in trial.reruns)
    return TrialOutcome(trial.verdict, trial.score, reruns)
