"""Two experiments are compared only where they measured the same thing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.analysis.comparing.conftest import EXACT, arm, cases, paired, side

from fairtrial.analysis.comparing.comparability import comparability
from fairtrial.analysis.comparing.compare import compare
from fairtrial.model.comparison import Change, Comparison
from fairtrial.model.experiment import Status

ROWS = paired(arm(cases([0, 1, 1], 1)), arm(cases([1, 1, 0], 1)))


def against(**changes: Any) -> Comparison:
    return compare(side("base"), side("cand", **changes), ROWS).comparison


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {"policy": {"trial_timeout": 60.0}},
            "other time limit: none in base, 60 s in cand",
        ),
        (
            {"spec": {"graders": [{**EXACT, "threshold": 0.5}]}},
            "other grader version: grader exact has threshold None → 0.5",
        ),
        (
            {"spec": {"graders": [EXACT, {"name": "extra", "kind": "judge"}]}},
            "other graders: extra is in cand and not in base",
        ),
        (
            {"status": Status.INTERRUPTED, "recorded": 4},
            "cand is interrupted: 4 of 120 trials are on record",
        ),
    ],
)
def test_what_differs_is_said_and_takes_every_row_out(changes: dict[str, Any], what: str) -> None:
    found = against(**changes)
    assert found.problems[0].what == what
    assert found.problems[0].rows == 3
    assert found.counts[Change.NOT_COMPARABLE] == 3
    assert found.rows[Change.NOT_COMPARABLE][0].reason == what
    assert found.sentence == f"No verdict: {what}."
    assert not found.comparable
    assert (found.delta.n, found.delta.estimate) == (0, None)


def test_a_part_says_how_it_becomes_whole() -> None:
    part: dict[str, Any] = {"status": Status.INTERRUPTED, "recorded": 4}
    fix = against(**part).problems[0].fix
    assert fix == (
        "finish it: fairtrial exp run --resume exp_cand, or compare what there is with --force"
    )
    fix = against(**part, spec={"graders": [EXACT], "regrade_of": "exp_first"}).problems[0].fix
    assert fix == "finish exp_first, and regrade that, or compare what there is with --force"


def test_another_judge_model_is_named() -> None:
    def judge(model: str) -> dict[str, Any]:
        return {"graders": [{"name": "judge", "kind": "judge", "model": model}]}

    found = compare(side("a", spec=judge("old-1")), side("b", spec=judge("new-2")), ROWS)
    what = "other judge model: grader judge has model 'old-1' → 'new-2'"
    assert found.comparison.problems[0].what == what


@pytest.mark.parametrize(
    ("key", "old", "new", "what"),
    [
        ("provider", {"kind": "a"}, {"kind": "b"}, "judge model"),
        ("judges", [{"model": "a"}], [{"model": "b"}], "judge model"),
        ("version", 1, 2, "grader version"),
        ("rubric", "It is polite.", "It is kind.", "grader version"),
    ],
)
def test_whatever_makes_a_judge_another_is_named(key: str, old: Any, new: Any, what: str) -> None:
    def judge(value: Any) -> dict[str, Any]:
        return {"graders": [{"name": "judge", "kind": "judge", key: value}]}

    found = compare(side("a", spec=judge(old)), side("b", spec=judge(new)), ROWS).comparison
    expected = f"other {what}: grader judge has {key} {old!r} → {new!r}"
    assert found.problems[0].what == expected


def test_a_long_rubric_is_named_by_its_hash() -> None:
    def judge(rubric: str) -> dict[str, Any]:
        return {"graders": [{"name": "judge", "kind": "judge", "rubric": rubric * 50}]}

    found = compare(side("a", spec=judge("x ")), side("b", spec=judge("y ")), ROWS).comparison
    assert re.fullmatch(
        "other grader version: grader judge has rubric #[0-9a-f]{8} → #[0-9a-f]{8}",
        found.problems[0].what,
    )


def test_a_grader_that_decides_nothing_is_left_out() -> None:
    style = {"name": "style", "kind": "judge", "required": False}
    found = against(spec={"graders": [EXACT, style]})
    assert found.comparable
    assert [part.name for part in found.graders] == ["exact"]


def test_force_compares_what_there_is_of_a_partial_run() -> None:
    part = side("cand", status=Status.STOPPED, recorded=4)
    found = compare(side("base"), part, ROWS, force=True).comparison
    assert found.comparable
    assert found.problems[0].what.startswith("cand is stopped: 4 of 120 trials")
    assert found.problems[0].rows == 0


def test_a_case_with_another_content_is_not_compared() -> None:
    rows = paired(arm(cases([0, 1], 1)), arm(cases([1, 1], 1)), changed=["c0000"])
    found = compare(side("base"), side("cand", dataset_number=2), rows).comparison
    assert found.counts[Change.NOT_COMPARABLE] == 1
    assert found.rows[Change.NOT_COMPARABLE][0].reason == "the case has another content"
    assert found.coverage.paired == 1
    assert any(problem.rows == 1 for problem in found.problems)


@pytest.mark.parametrize("chooser", ["base", "cand"])
def test_the_run_that_selected_the_cases_is_no_baseline(chooser: str) -> None:
    spec = {"graders": [EXACT], "failing": f"exp_{chooser}"}
    chosen = "cand" if chooser == "base" else "base"
    sides = {chooser: side(chooser, trials=1), chosen: side(chosen, trials=1, spec=spec)}
    found = compare(sides["base"], sides["cand"], ROWS).comparison
    # a / (a + b + k) for Beta(.1, .1) and Beta(.5, .5) cases that failed their one trial
    assert "about 8 to 25 % of them would pass by luck (0 to 1 of 3)" in found.problems[0].what
    assert found.sentence.startswith("No verdict on cand against base")


def test_a_regrade_of_the_run_that_selected_the_cases_is_none_either() -> None:
    base = side("base", spec={"graders": [EXACT], "regrade_of": "exp_origin"})
    cand = side("cand", spec={"graders": [EXACT], "failing": "exp_origin"})
    assert compare(base, cand, ROWS).comparability.selection is not None


def test_two_runs_that_a_third_selected_may_be_compared() -> None:
    spec = {"graders": [EXACT], "failing": "exp_third"}
    found = compare(side("base", spec=spec), side("cand", spec=spec), ROWS)
    assert found.comparability.selection is None


@pytest.mark.parametrize(
    ("dataset", "where"), [("bugs", "(bugs@1)"), ("other", "(bugs@1 and other@1)")]
)
def test_no_shared_case_is_said(dataset: str, where: str) -> None:
    rows = paired(arm({"x": (1, 1)}), arm({"y": (1, 1)}))
    found = compare(side("base"), side("cand", dataset=dataset), rows).comparison
    assert found.sentence == f"No verdict: base and cand share no case {where}."
    assert (found.counts[Change.NEW], found.counts[Change.DROPPED]) == (1, 1)
    assert found.coverage.share == 0.0


def test_empty_experiments_have_no_coverage() -> None:
    found = compare(side("base"), side("cand"), paired(arm({}), arm({}))).comparison
    assert found.coverage.share is None
    assert found.coverage.lost_a is None
    assert found.smallest.effect is None


def test_a_run_whose_process_is_gone_is_not_called_running() -> None:
    gone = side("cand", status=Status.RUNNING, recorded=3)
    gone = replace(gone, state=replace(gone.state, alive=False))
    found = comparability(side("base"), gone, ROWS, force=False)
    assert found.blocking[0].what.startswith("cand died (its process is gone): 3 of ")
