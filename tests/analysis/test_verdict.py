from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.analysis.verdict import (
    REASON_LENGTH,
    decide,
    main_score,
    one_line,
    score_missing,
    score_of,
)
from fairtrial.model.errors import (
    GraderError,
    InfraError,
    TaskError,
    TrialTimeout,
    Undecidable,
)
from fairtrial.model.grader import Grade, GraderSpec
from fairtrial.model.score import Score
from fairtrial.model.verdict import Cause, Ruling, Verdict

PASS = Score("good", 1.0, passed=True)
FAIL = Score("bad", 0.0, passed=False, reason="expected 42, got 41")
GONE = Score("judge", None, passed=None, reason="answered 'maybe'")
OPTIONAL_FAIL = Score("style", 0.0, passed=False, reason="too long", required=False)
OPTIONAL_GONE = Score("extra", None, passed=None, reason="crashed", required=False)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCORES = st.lists(
    st.builds(
        lambda value, bar, required, weight: Score(
            "g", value, None if value is None else value >= bar, "why", required, weight
        ),
        st.none() | FINITE,
        FINITE,
        st.booleans(),
        st.floats(0, 1e308),
    ),
    max_size=5,
)


UNANSWERED = Ruling(Verdict.UNDECIDED, Cause.GRADER, "judge: answered 'maybe'", None, "task")


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (TaskError("exit status 3"), (Verdict.FAILED, Cause.TASK, "exit status 3")),
        (TrialTimeout("over 5 s"), (Verdict.FAILED, Cause.LIMIT, "over 5 s")),
        (InfraError("429", kind="rate_limit"), (Verdict.UNDECIDED, Cause.INFRA, "429")),
        (Undecidable("no sandbox"), (Verdict.UNDECIDED, Cause.UNDECIDABLE, "no sandbox")),
        (GraderError("crashed"), (Verdict.UNDECIDED, Cause.GRADER, "crashed")),
        (KeyError("x"), (Verdict.UNDECIDED, Cause.INTERNAL, "KeyError: 'x'")),
        (TaskError(), (Verdict.FAILED, Cause.TASK, "TaskError")),
    ],
)
def test_a_problem_decides_and_leaves_no_score(
    problem: Exception, expected: tuple[Verdict, Cause, str]
) -> None:
    ruling = decide(problem, ())
    assert (ruling.verdict, ruling.cause, ruling.reason, ruling.score) == (*expected, None)


@pytest.mark.parametrize(
    ("problem", "scores", "at_fault"),
    [
        (TaskError("died"), (), None),
        (InfraError("429", kind="rate_limit"), (), "platform"),
        (Undecidable("no sandbox"), (), "platform"),
        (Undecidable("asked for permission", at_fault="task"), (), "task"),
        (KeyError("a defect"), (), "platform"),
        (GraderError("crashed"), (), "task"),
        (None, (GONE,), "task"),
        (None, (PASS,), None),
    ],
)
def test_who_left_a_trial_undecided_is_kept(
    problem: Exception | None, scores: tuple[Score, ...], at_fault: str | None
) -> None:
    assert decide(problem, scores).at_fault == at_fault


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([PASS], Ruling(Verdict.PASSED, None, None, 1.0)),
        ([PASS, FAIL], Ruling(Verdict.FAILED, None, "bad: expected 42, got 41", 0.5)),
        ([GONE, FAIL], Ruling(Verdict.FAILED, None, "bad: expected 42, got 41", None)),
        ([PASS, GONE], UNANSWERED),
        ([PASS, OPTIONAL_FAIL], Ruling(Verdict.PASSED, None, None, 0.5)),
        ([PASS, OPTIONAL_GONE], Ruling(Verdict.PASSED, None, None, None)),
        ([], Ruling(Verdict.PASSED, None, None, None)),
    ],
)
def test_scores_decide_when_nothing_went_wrong(scores: list[Score], expected: Ruling) -> None:
    assert decide(None, scores) == expected


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([PASS], Ruling(Verdict.PASSED, Cause.LIMIT, None, 1.0)),
        ([FAIL], Ruling(Verdict.FAILED, Cause.LIMIT, "bad: expected 42, got 41", 0.0)),
        ([GONE], UNANSWERED),
        ([OPTIONAL_FAIL], Ruling(Verdict.FAILED, Cause.LIMIT, "over 5 s", None)),
    ],
)
def test_graders_may_judge_what_a_timeout_left_behind(
    scores: list[Score], expected: Ruling
) -> None:
    assert decide(TrialTimeout("over 5 s"), scores) == expected


def test_no_other_problem_is_graded_away() -> None:
    assert decide(TaskError("died"), [PASS]).verdict is Verdict.FAILED
    assert decide(InfraError("503", kind="server"), [PASS]).verdict is Verdict.UNDECIDED


@given(SCORES)
def test_every_list_of_scores_has_one_verdict(scores: list[Score]) -> None:
    ruling = decide(None, scores)
    required = [score.passed for score in scores if score.required]
    assert (ruling.verdict is Verdict.FAILED) == (False in required)
    assert (ruling.verdict is Verdict.PASSED) == all(required)
    assert (ruling.reason is None) == (ruling.verdict is Verdict.PASSED)
    assert (ruling.cause is Cause.GRADER) == (ruling.verdict is Verdict.UNDECIDED)


@given(SCORES)
def test_the_main_score_is_missing_or_within_the_values(scores: list[Score]) -> None:
    main = main_score(scores)
    weighed = [score.value for score in scores if score.weight > 0]
    if main is None:
        assert not weighed or None in weighed
    else:
        values = [value for value in weighed if value is not None]
        assert len(values) == len(weighed)
        assert min(values) <= main <= max(values)


def test_the_main_score_is_weighted() -> None:
    heavy = Score("heavy", 1.0, passed=True, weight=3.0)
    light = Score("light", 0.0, passed=False, weight=1.0)
    ignored = Score("ignored", None, passed=None, weight=0.0)
    assert main_score([heavy, light, ignored]) == 0.75
    assert main_score([ignored]) is None
    assert main_score([Score("a", 0.1, passed=True, weight=0.7)] * 3) == 0.1


def spec(**changes: Any) -> GraderSpec:
    return GraderSpec("exact", "exact", **changes)


@pytest.mark.parametrize(
    ("value", "threshold", "default", "passed"),
    [
        (1.0, None, 1.0, True),
        (0.79, None, 0.8, False),
        (0.8, None, 0.8, True),
        (0.5, 0.4, 0.8, True),
        (0.5, 0.0, 0.8, True),
        (True, None, 1.0, True),
        (-3, -5.0, 1.0, True),
    ],
)
def test_the_threshold_alone_makes_a_pass(
    value: float, threshold: float | None, default: float, *, passed: bool
) -> None:
    score = score_of(spec(threshold=threshold), Grade(value, "so"), default)
    assert (score.value, score.passed, score.reason) == (float(value), passed, "so")


def test_not_turns_the_value_around_before_the_threshold() -> None:
    score = score_of(spec(negate=True), Grade(1.0, "contains 'sorry'"), 1.0)
    assert (score.value, score.passed) == (0.0, False)
    assert score.reason == "not wanted: contains 'sorry'"
    assert score_of(spec(negate=True), Grade(1.0), 1.0).reason == "not wanted: the output matched"
    assert score_of(spec(negate=True, threshold=0.1), Grade(0.9), 1.0).passed


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "0.5", 10**400, [1], Decimal(1), 1j]
)
@pytest.mark.parametrize("negate", [False, True])
def test_a_value_that_is_no_finite_number_is_missing(value: Any, *, negate: bool) -> None:
    score = score_of(spec(negate=negate), Grade(value, "said so"), 0.5)
    assert (score.value, score.passed) == (None, None)
    assert score.reason is not None
    assert "finite" in score.reason


def test_a_missing_value_keeps_the_graders_words() -> None:
    assert score_of(spec(), Grade(None, "no plan"), 0.5).reason == "no plan"
    assert score_of(spec(), Grade(None), 0.5).reason == "the grader gave no value"
    missing = score_missing(spec(required=False, weight=2.0), "boom\x1b[2J")
    assert missing == Score("exact", None, None, "boom\\x1b[2J", required=False, weight=2.0)


def test_a_failure_without_words_gets_some() -> None:
    assert score_of(spec(), Grade(0.25), 0.5).reason == "0.25 is below 0.5"
    assert score_of(spec(), Grade(0.75), 0.5).reason is None
    nameless = Score("g", 0.0, passed=False)
    assert decide(None, [nameless]).reason == "g"


def test_a_reason_is_one_short_printable_line() -> None:
    assert one_line("a\tb\r\nc\u3000d\u202e\ud800\x00") == "a b⏎c\u3000d\\u202e\\ud800\\x00"
    assert one_line("x" * 5000) == "x" * (REASON_LENGTH - 1) + "…"


@given(st.text(st.characters(), max_size=400))
def test_no_text_escapes_its_line(text: str) -> None:
    line = one_line(text)
    assert len(line) <= REASON_LENGTH
    assert len(line.splitlines()) <= 1
    line.encode("utf-8")
