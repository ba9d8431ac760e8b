"""Results of promptfoo."""

from __future__ import annotations

from pathlib import Path

from tests.interchange.results.reading import read
from tests.interchange.results.writers import jsonl, promptfoo, promptfoo_result


def test_columns_are_arms_and_repeats_are_trials(tmp_path: Path) -> None:
    results = [
        promptfoo_result(city, provider, prompt=place, test=test)
        for test in (1, 0)
        for place, provider in ((1, "b"), (0, "a"))
        for city in ("Paris", "Rome")
    ]
    found = read(promptfoo(tmp_path / "r.json", results, description="capitals"))
    assert (found.tool, found.run.name, found.run.arms) == ("promptfoo", "capitals", ("a", "b"))
    assert len(found.trials) == 8
    # What is random in it is no part of the case, so all trials of a city are of one case.
    assert {str(trial.input) for trial in found.trials} == {
        "{'city': 'Paris'}",
        "{'city': 'Rome'}",
    }
    alone = read(promptfoo(tmp_path / "one.json", results[:1]))
    assert (alone.trials[0].arm, alone.trials[0].model) == (None, "b")


def test_a_failed_assertion_is_no_error(tmp_path: Path) -> None:
    failed = promptfoo_result("a", success=False, score=0, failureReason=1, error="not equal")
    broken = promptfoo_result(
        "b", success=False, failureReason=2, error="API error: 503", gradingResult=None, response={}
    )
    crashed = promptfoo_result(
        "c", success=False, failureReason=2, error="Error: boom", gradingResult=None, response={}
    )
    found = read(promptfoo(tmp_path / "r.json", [failed, broken, crashed]))
    first, second, third = found.trials
    assert (first.passed, first.trouble, first.scores["score"].value) == (False, None, 0)
    assert second.trouble is not None
    assert (second.passed, second.trouble.cause, second.scores) == (None, "infra", {})
    assert third.trouble is not None
    assert third.trouble.cause == "task"


def test_what_is_unknown_is_not_zero(tmp_path: Path) -> None:
    cached = promptfoo_result("a", response={"output": "x", "cached": True, "tokenUsage": {}})
    unpriced = promptfoo_result("b", cost=0)
    found = read(promptfoo(tmp_path / "r.json", [cached, unpriced]))
    first, second = found.trials
    assert (first.cost_usd, first.duration_s, first.tokens) == (None, None, None)
    assert (second.cost_usd, second.duration_s) == (None, 0.25)
    assert second.started_at is not None


def test_a_verdict_against_its_own_threshold_is_told(tmp_path: Path) -> None:
    assertion = {"type": "llm-rubric", "threshold": 0.7}
    component = {"pass": False, "score": 0.75, "assertion": assertion}
    graded = {"pass": False, "score": 0.75, "reason": "hm", "componentResults": [component]}
    result = promptfoo_result("a", success=False, failureReason=1, gradingResult=graded)
    found = read(promptfoo(tmp_path / "r.json", [result]))
    assert found.notes == {"assertions whose verdict is not that of score and threshold": 1}


def test_one_result_a_line(tmp_path: Path) -> None:
    rows = [promptfoo_result("a"), promptfoo_result("b", "other", prompt=1)]
    found = read(jsonl(tmp_path / "r.jsonl", rows))
    assert (found.tool, found.run.arms) == ("promptfoo", ("openai:gpt", "other"))
