"""Seq@k over cases."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from fairtrial.analysis.seq import seq_rate, solved_counts, solved_within
from fairtrial.model.attempt import Attempt
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Verdict
from fairtrial.stats.passk import seq_at_k

VERDICTS = {"p": Verdict.PASSED, "f": Verdict.FAILED, "u": Verdict.UNDECIDED}


def trial(verdicts: str, case: str = "c", number: int = 1) -> Trial:
    attempts = tuple(
        Attempt(n, VERDICTS[letter], None, None, None, "o", None, 1.0, None)
        for n, letter in enumerate(verdicts, start=1)
    )
    return Trial(
        key=TrialKey(case, "default", "main", number),
        verdict=attempts[0].verdict,
        cause=None,
        reason=None,
        score=None,
        scores=(),
        output="o",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        duration_s=1.0,
        tries=1,
        seed=1,
        attempts=attempts,
    )


@pytest.mark.parametrize(
    ("verdicts", "within"),
    [
        ("p", [True, True, True]),
        ("fp", [False, True, True]),
        ("fff", [False, False, False]),
        ("fu", [False, None, None]),
        ("u", [None, None, None]),
        ("ff", [False, False, None]),  # no critic could be had for a third
    ],
)
def test_what_is_unknown_is_not_failed(verdicts: str, within: list[bool | None]) -> None:
    assert [solved_within(trial(verdicts), k) for k in (1, 2, 3)] == within


def test_with_one_trial_a_case_it_is_the_direct_count_with_wilsons_interval() -> None:
    cases: Sequence[str] = ("p", "fp", "ffp", "fff", "fff", "fp", "p")
    trials = [trial(verdicts, f"c{n}") for n, verdicts in enumerate(cases)]
    direct = seq_at_k([[letter == "p" for letter in verdicts] for verdicts in cases], 3)
    for k, expected in enumerate(direct, start=1):
        found = seq_rate(solved_counts(trials, k))
        assert (found.estimate, found.interval, found.n) == (
            expected.estimate,
            expected.interval,
            expected.n,
        )


def test_trials_of_a_case_are_folded_to_their_mean() -> None:
    trials = [trial("fp", "a", 1), trial("ff", "a", 2), trial("p", "b", 1), trial("u", "b", 2)]
    found = seq_rate(solved_counts(trials, 2))
    assert (found.estimate, found.n, found.trials) == (0.75, 2, 3)


def test_cases_without_a_known_trial_are_left_out() -> None:
    assert seq_rate(solved_counts([trial("fu"), trial("p", "d")], 2)).n == 1
