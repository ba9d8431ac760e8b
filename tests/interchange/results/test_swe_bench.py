"""Reports of SWE-bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.interchange.results.reading import read
from tests.interchange.results.writers import jsonl

from fairtrial.interchange.results.contract import Asked

SUMMARY = {
    "total_instances": 300,
    "submitted_instances": 5,
    "submitted_ids": ["a", "b", "c", "d", "e"],
    "completed_ids": ["a", "b"],
    "resolved_ids": ["a"],
    "unresolved_ids": ["b"],
    "empty_patch_ids": ["c"],
    "error_ids": ["d"],
    "incomplete_ids": ["x", "y"],
    "schema_version": 2,
}


def test_a_summary_with_its_predictions(tmp_path: Path) -> None:
    path = tmp_path / "gpt.run.json"
    path.write_text(json.dumps(SUMMARY), encoding="utf-8")
    patches = [
        {"instance_id": name, "model_name_or_path": "gpt", "model_patch": f"diff {name}"}
        for name in "ab"
    ]
    jsonl(tmp_path / "preds.jsonl", patches)
    found = read(path)
    assert found.tool == "swe-bench"
    assert {trial.id: trial.passed for trial in found.trials} == {
        "a": True,
        "b": False,
        "c": False,
        "d": None,
        "e": None,
    }
    assert (found.cause("d"), found.cause("e")) == ("grader", "grader")
    assert (found.of("a").output, found.of("c").output, found.run.model) == ("diff a", None, "gpt")
    assert found.notes == {"instances without a prediction: they are no trials": 2}
    by_name = {one["instance_id"]: one for one in patches}
    (tmp_path / "other.json").write_text(json.dumps(by_name), encoding="utf-8")
    asked = Asked(predictions=tmp_path / "other.json")
    assert read(path, asked).of("b").output == "diff b"


def test_a_folder_of_reports(tmp_path: Path) -> None:
    def report(name: str, log: str = "", **told: Any) -> None:
        folder = tmp_path / "run" / name
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(json.dumps({name: told}), encoding="utf-8")
        (folder / "run_instance.log").write_text(log, encoding="utf-8")

    status = {"FAIL_TO_PASS": {"success": ["t1"], "failure": ["t2"]}}
    applied: dict[str, Any] = {"patch_successfully_applied": True, "tests_status": status}
    report("good", resolved=True, **applied)
    report("bad", resolved=False, **applied)
    report("torn", resolved=False, patch_successfully_applied=False)
    report("none", patch_is_None=True, resolved=False)
    report("slow", ">>>>> Tests Timed Out", resolved=False, patch_successfully_applied=True)
    found = read(tmp_path / "run")
    assert {trial.id: trial.passed for trial in found.trials} == {
        "good": True,
        "bad": False,
        "torn": False,
        "none": False,
        "slow": None,
    }
    assert found.cause("slow") == "limit"
    assert found.of("bad").metrics == {"fail_to_pass_passed": 1, "fail_to_pass_failed": 1}
