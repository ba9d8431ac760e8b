"""A real model as a judge: asked by a schema, held against people, and found out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from tests.model.conftest import EXAMPLE, INSTRUCT, Desk, needs_model, prompt

pytestmark = needs_model

OTHER = {"positive": "negative", "negative": "positive"}
JUDGE = {
    "kind": "judge",
    "name": "fits",
    "rubric": "The output names how the reviewer feels: positive or negative.",
    "choices": ["right", "wrong"],
    "include": ["input", "output"],
    "provider": "openai",
    "model": INSTRUCT,
    "temperature": 0,
    "max_tokens": 80,
}


def answered(score: dict[str, Any]) -> bool:
    return score["value"] is not None


def test_a_judge_answers_on_its_menu_or_leaves_the_trial_undecided(desk: Desk) -> None:
    grader = desk.write("judge.json", JUDGE)
    task = prompt(template="{{ review }}", max_tokens=6)
    desk.ok("exp", "run", "-d", "reviews", "--first-n", "2", "--task", task, "-g", grader)
    trials = desk.trials("reviews")
    assert len(trials) == 2
    for trial in trials:
        (score,) = trial["scores"]
        if answered(score):
            (answer,) = score["detail"]["answers"]
            assert answer["said"] in ("right", "wrong")
            assert answer["reason"]
            assert score["value"] == {"right": 1.0, "wrong": 0.0}[answer["said"]]
            assert trial["verdict"] == {"right": "passed", "wrong": "failed"}[answer["said"]]
        else:
            assert (trial["verdict"], trial["cause"]) == ("undecided", "grader")
            assert "answered off its menu twice" in score["reason"]


def test_a_judge_that_is_none_is_found_out_by_honest_numbers(desk: Desk) -> None:
    """Half of these outputs say the opposite of what the reviewer says; it cannot tell."""
    cases, labels = [], []
    lines = (EXAMPLE / "cases.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    for number, case in enumerate(map(json.loads, lines)):
        right = number // 2 % 2 == 0
        output = case["expected"] if right else OTHER[case["expected"]]
        kept = {"id": case["id"], "input": case["input"], "split": "test"}
        cases.append({**kept, "metadata": {"output": output}})
        labels.append({"caseId": case["id"], "value": "pass" if right else "fail"})
    desk.ok("dataset", "add", "judged", desk.write("judged.jsonl", cases))
    words = [desk.write("judge.json", JUDGE), "--labels", desk.write("people.jsonl", labels)]
    report = desk.json("grader", "calibrate", *words, "-d", "judged", "--min-labels", "8")

    told = {"pass": True, "fail": False}
    pairs = [(told[o["human"]], o["passed"]) for o in report["outputs"] if o["value"] is not None]
    evidence, confusion = report["evidence"], report["evidence"]["confusion"]
    assert evidence["labels"] == 12
    assert evidence["answered"] == len(pairs) >= 8
    tp, fn = pairs.count((True, True)), pairs.count((True, False))
    fp, tn = pairs.count((False, True)), pairs.count((False, False))
    assert (confusion["tp"], confusion["fn"], confusion["fp"], confusion["tn"]) == (tp, fn, fp, tn)
    assert confusion["tpr"] == pytest.approx(tp / (tp + fn))
    assert confusion["tnr"] == pytest.approx(tn / (tn + fp))
    low, high = proportion_confint(tn, tn + fp, method="wilson")
    assert confusion["tnr_ci"]["lower"] == pytest.approx(low, abs=1e-9)
    assert confusion["tnr_ci"]["upper"] == pytest.approx(high, abs=1e-9)
    theirs = float(cohens_kappa([[tp, fn], [fp, tn]], return_results=False))
    assert evidence["kappa"]["estimate"] == pytest.approx(theirs, abs=1e-9)

    assert evidence["kappa"]["estimate"] < 0.4
    assert min(confusion["tpr"], confusion["tnr"]) < 0.6
    assert report["standing"] in ("doubted", "open")
    if len({passed for _, passed in pairs}) == 1:
        # One who always says the same has a kappa of 0, and nothing says how surely.
        assert evidence["kappa"]["ci"] is None
        assert evidence["kappa"]["reason"]
