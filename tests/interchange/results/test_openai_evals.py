"""OpenAI Evals: output items of the platform, and logs of `oaieval`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.interchange.results.reading import read
from tests.interchange.results.writers import jsonl, output_item

ITEMS = [output_item("a"), output_item("b", "fail", 1)]


@pytest.mark.parametrize("form", ["lines", "list", "array"])
def test_output_items_in_all_their_forms(tmp_path: Path, form: str) -> None:
    path = tmp_path / "items.json"
    if form == "lines":
        jsonl(path, ITEMS)
    else:
        document: Any = {"object": "list", "data": ITEMS} if form == "list" else ITEMS
        path.write_text(json.dumps(document), encoding="utf-8")
    found = read(path)
    assert found.tool == "openai-evals"
    first, second = found.trials
    assert (first.passed, second.passed) == (True, False)
    # The number of an item is its place, which another one may have in the next run.
    assert (first.id, first.input, first.arm) == (None, {"question": "a"}, None)
    # The name of a grader has a random end, which differs from eval to eval.
    assert {name: score.value for name, score in first.scores.items()} == {"Match": 1.0}
    assert (first.output, first.model) == ("yes", "gpt-5")
    assert first.tokens is not None
    assert (first.tokens.input, first.tokens.cache_read, first.tokens.output) == (6, 4, 2)


def test_runs_of_one_file_are_arms_and_errors_have_a_cause(tmp_path: Path) -> None:
    sample = {**ITEMS[0]["sample"], "error": {"code": "rate_limit_exceeded", "message": "slow"}}
    items = [output_item("a"), output_item("a", run_id="evalrun_2", sample=sample, status="fail")]
    found = read(jsonl(tmp_path / "i.jsonl", items))
    assert [trial.arm for trial in found.trials] == ["evalrun_1", "evalrun_2"]
    second = found.trials[1]
    assert second.trouble is not None
    assert (second.trouble.cause, second.passed, second.scores) == ("infra", None, {})


def test_a_log_of_oaieval(tmp_path: Path) -> None:
    def event(sample: str, kind: str, **data: Any) -> dict[str, Any]:
        return {
            "run_id": "r",
            "event_id": 0,
            "sample_id": sample,
            "type": kind,
            "data": data,
            "created_at": "2026-11-29 12:00:00.000000+00:00",
        }

    spec = {"completion_fns": ["gpt-5"], "eval_name": "sums.dev.v0", "base_eval": "sums"}
    rows: list[Any] = [
        {"spec": spec},
        event("sums.dev.0", "sampling", prompt=[{"role": "user", "content": "1+1"}], sampled=["2"]),
        event("sums.dev.1", "sampling", prompt="2+2", sampled=["5"]),
        event("sums.dev.0", "match", correct=True, expected="2"),
        event("sums.dev.1", "match", correct=False, expected="4"),
        event("sums.dev.1", "match", correct=True, expected="4", sampled="4"),
        event("sums.dev.2", "metrics", accuracy=0.5),
        event("sums.dev.3", "error", type="APIConnectionError", message="reset"),
    ]
    found = read(jsonl(tmp_path / "log.jsonl", [*rows, {"final_report": {"accuracy": 0.5}}]))
    assert (found.run.name, found.run.dataset, found.run.model) == ("sums.dev.v0", "sums", "gpt-5")
    assert [(trial.id, trial.passed) for trial in found.trials[:3]] == [
        ("sums.dev.0", True),
        ("sums.dev.1", False),
        ("sums.dev.1", True),
    ]
    assert found.trials[0].input == [{"role": "user", "content": "1+1"}]
    assert found.of("sums.dev.2").scores["accuracy"].value == 0.5
    assert found.cause("sums.dev.3") == "infra"
    assert read(jsonl(tmp_path / "half.jsonl", rows)).run.ending == "interrupted"
