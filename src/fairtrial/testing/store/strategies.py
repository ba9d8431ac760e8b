"""Trials drawn by hypothesis, for tests of a store."""

from __future__ import annotations

from hypothesis import strategies as st

from fairtrial.model.score import Score
from fairtrial.model.task import Reused, Tokens
from fairtrial.model.trial import MAIN_ARM, Trial, TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.testing.store.facts import a_trial

_VERDICTS = st.sampled_from(["passed", "failed", "undecided"])
_AMOUNTS = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.3, 2.5, 1e6]))

_REUSED = st.one_of(
    st.none(),
    st.builds(
        Reused,
        source=st.sampled_from(["cache", "recording"]),
        calls=st.integers(1, 3),
        tokens=st.sampled_from([None, Tokens(), Tokens(input=4, cache_read=2)]),
        cost_usd=_AMOUNTS,
    ),
)


@st.composite
def any_trial(draw: st.DrawFn) -> Trial:
    """Draw a trial of a few rows, with any verdict, cause, cost and reuse."""
    verdict = draw(_VERDICTS)
    graders = draw(st.lists(st.sampled_from(["exact", "judge"]), unique=True))
    scores = []
    for grader in sorted(graders):
        value = draw(_AMOUNTS)
        scores.append(Score(grader, value, None if value is None else value >= 0.5))
    key = TrialKey(
        draw(st.sampled_from(["a", "b"])),
        draw(st.sampled_from(["default", "attack"])),
        draw(st.sampled_from([MAIN_ARM, "candidate"])),
        draw(st.integers(1, 3)),
    )
    return a_trial(
        verdict=verdict,
        key=key,
        cause=draw(st.sampled_from([None, *Cause])),
        reason=draw(st.sampled_from([None, "why", "because"])),
        score=draw(_AMOUNTS),
        scores=tuple(scores),
        duration_s=draw(st.sampled_from([None, 0.0, 0.1, 3.0, 1e5])),
        cost_usd=draw(_AMOUNTS),
        grading_cost_usd=draw(_AMOUNTS),
        reused=draw(_REUSED),
    )
