"""What trials of eval tasks come to, and how that is said."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from fairtrial.analysis.eval_reading import EvalReading, eval_reading
from fairtrial.analysis.eval_words import isolation_lines, task_words, trial_name
from fairtrial.model.case import Case
from fairtrial.model.json import Json
from fairtrial.model.score import Score
from fairtrial.model.task import Tokens
from fairtrial.model.trial import Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
BWRAP: dict[str, Json] = {
    "level": "bwrap",
    "held": [
        {"what": "files", "holds": True, "how": "namespaces"},
        {"what": "memory", "holds": False, "how": "no control group is writable"},
    ],
    "hits": [],
    "image": None,
}
PASSED, FAILED, UNDECIDED = Verdict.PASSED, Verdict.FAILED, Verdict.UNDECIDED


def trial(name: str, number: int, verdict: Verdict, arm: str = "main", **more: Any) -> Trial:
    told: dict[str, Any] = {
        "cause": None,
        "reason": None if verdict is PASSED else "why",
        "score": None,
        "scores": (),
        "output": {"isolation": BWRAP},
        "duration_s": 2.0,
        **more,
    }
    return Trial(
        TrialKey(name, "default", arm, number), verdict, started_at=NOON, tries=1, seed=1, **told
    )


def case(name: str, **metadata: Json) -> Case:
    return Case(id=name, input="Do", metadata={"reference": True, "grade": "exact", **metadata})


def read(
    *trials: Trial, cases: tuple[Case, ...] = (case("a"),), n: int = 2, **known: bool
) -> EvalReading:
    arms = tuple(dict.fromkeys(one.key.arm for one in trials)) or ("main",)
    validated: Mapping[str, bool | None] = {one.id: known.get(one.id, True) for one in cases}
    return eval_reading("s", (n, arms), cases, validated, trials)


def test_pass_metrics_are_over_tasks_and_leave_undecided_trials_out() -> None:
    reading = read(
        trial("a", 1, PASSED),
        trial("a", 2, FAILED),
        trial("b", 1, PASSED),
        trial("b", 2, UNDECIDED, cause=Cause.INFRA),
        cases=(case("a"), case("b")),
    )
    metrics = reading.arms[0].metrics
    assert metrics.at[1].estimate == 0.75
    assert reading.arms[0].rate.estimate == 0.75
    assert (metrics.at[2].estimate, metrics.at[2].n, metrics.at[2].n_total) == (1.0, 1, 2)
    assert metrics.hat[2].estimate == 0.0
    assert metrics.flaky == 1
    first, second = reading.tasks
    assert list(task_words(first)) == ["flaky", "validated"]
    assert list(task_words(second)) == ["validated", "1 undecided"]


def test_what_trials_cost_is_unknown_where_none_tells() -> None:
    spent = read(
        trial("a", 1, PASSED, cost_usd=0.5, tokens=Tokens(input=10, output=5)),
        trial("a", 2, PASSED),
        trial("a", 1, PASSED, arm="other", tokens=Tokens()),
    )
    main, other = spent.arms
    assert (main.cost_usd, main.costed, main.trials, main.tokens) == (0.5, 1, 2, 15)
    assert (other.cost_usd, other.costed, other.tokens) == (None, 0, None)


def test_trials_to_look_at_are_told() -> None:
    detail = {"stdout": "collected\n1 failed\n", "stderr": " \n"}
    reading = read(
        trial("a", 1, PASSED),
        trial("a", 2, PASSED, metrics={"over_limit": 1.0}),
        trial("a", 3, PASSED, output={"leaks": ["event 4: used git log"], "session": "ses_1"}),
        trial(
            "a",
            4,
            FAILED,
            arm="x",
            scores=(
                Score("exact", 0.0, passed=False),
                Score("verifier", 0.0, passed=False, detail=detail),
            ),
            output={"transcript_trouble": "it is empty"},
        ),
        trial("a", 5, FAILED, cause=Cause.TASK, output=None),
    )
    over, leaking, failed, crashed = reading.told
    assert reading.over_limit == (over,)
    assert reading.leaking == (leaking,)
    assert leaking.session == "ses_1"
    assert reading.failed == (failed, crashed)
    assert (failed.last_words, failed.transcript_trouble) == ("1 failed", "it is empty")
    assert (crashed.last_words, crashed.cause) == (None, "task")
    assert [trial_name(one) for one in (over, failed)] == ["a trial 2", "a x trial 4"]


def test_isolation_is_one_line_when_it_was_equal() -> None:
    hit = {**BWRAP, "hits": ["memory"]}
    reading = read(trial("a", 1, PASSED), trial("a", 2, PASSED, output={"isolation": hit}))
    assert list(isolation_lines(reading)) == [
        "level bwrap; held: files; did not hold: memory (no control group is writable)",
        "1 trial ran into a limit: memory",
    ]
    none = {"level": "none", "held": [{"what": "files", "holds": False, "how": "none"}]}
    image = {"level": "image", "held": [], "image": "i@sha256:1"}
    mixed = read(
        trial("a", 1, PASSED, output={"isolation": none}),
        trial("a", 2, PASSED, output={"isolation": image}),
    )
    assert list(isolation_lines(mixed)) == [
        "level none, 1 trial; held: nothing; did not hold: files",
        "level image i@sha256:1, 1 trial; held: nothing",
    ]
    assert list(isolation_lines(read())) == ["not known: no trial has a workspace on record"]


@pytest.mark.parametrize(
    ("n", "more", "says"),
    [
        (1, {}, "1 task: a suite of fewer than 20"),
        (19, {}, "19 tasks: a suite of fewer than 20"),
        (20, {"reference": False}, "not solvable: all 20 tasks"),
        (20, {"grade": "guessed"}, "begins guessed, not exactly as in the session: all 20 tasks"),
        (20, {"grade": None}, ""),
    ],
)
def test_what_limits_the_conclusion_is_noted(n: int, more: dict[str, Json], says: str) -> None:
    notes = read(cases=tuple(case(f"t{i}", **more) for i in range(n))).notes
    assert len(notes) == (1 if says else 0)
    assert says in "".join(notes)


def test_drafts_are_named() -> None:
    cases = tuple(case(f"t{i:02}") for i in range(30))
    drafts = {f"t{i:02}": False for i in range(12)}
    (note,) = read(cases=cases, **drafts).notes
    assert note.startswith("Not validated")
    assert note.endswith("t08, t09 and 2 more")
    unknown = eval_reading("s", (1, ("main",)), cases, {}, ())
    assert unknown.notes == ("Whether these were validated is not known any more: all 30 tasks",)
    assert list(task_words(unknown.tasks[0])) == []
    plain = read(cases=(case("a", reference=False, grade="guessed"),), a=False).tasks[0]
    assert list(task_words(plain)) == ["draft", "no reference", "start guessed"]
