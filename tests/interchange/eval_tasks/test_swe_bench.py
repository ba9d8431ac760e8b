"""SWE-bench's instances, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.interchange.eval_tasks.instances import an_instance

from fairtrial.interchange.eval_tasks.swe_bench import Instance, instances, runner_files
from fairtrial.model.errors import UsageError


def test_lists_are_read_as_text_and_as_lists(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(an_instance()) + "\n\n")
    (one,) = instances(file)
    assert isinstance(one, Instance)
    assert one.fail_to_pass == ("test_a.py::test_x",)
    assert one.pass_to_pass == ("test_a.py::test_y[a b]",)
    assert one.facts == {"version": "1.0"}
    named = json.loads(runner_files(one)[".fairtrial-tests/tests.json"])
    assert named["FAIL_TO_PASS"] == ["test_a.py::test_x"]
    file = tmp_path / "a.json"
    file.write_text(json.dumps(an_instance()))
    assert list(instances(file)) == [one]
    file.write_text(json.dumps([an_instance(), an_instance()]))
    assert list(instances(file)) == [one, one]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"base_commit": ""}, "it has no base_commit"),
        ({"repo": 3, "test_patch": " "}, "it has no repo, test_patch"),
        ({"FAIL_TO_PASS": "[]"}, "names no test"),
        ({"FAIL_TO_PASS": "[oops"}, "must be lists"),
        ({"PASS_TO_PASS": None}, "must be lists"),
        ({"PASS_TO_PASS": [1]}, "must be lists"),
        ({"FAIL_TO_PASS": ["test_x (mod.Class)"]}, "not named as pytest names them"),
    ],
)
def test_an_instance_that_does_not_fit_costs_no_other(
    changed: dict[str, Any], told: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    lines = [json.dumps(an_instance(**changed)), json.dumps(an_instance())]
    file.write_text("\n".join(lines))
    bad, good = instances(file)
    assert isinstance(bad, tuple)
    assert told in bad[1]
    assert isinstance(good, Instance)


def test_lines_and_files_that_are_no_json(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("{\n3\n" + json.dumps(an_instance()))
    first, second, good = instances(file)
    assert isinstance(first, tuple)
    assert (first[0], second) == ("line 1", ("line 2", "an instance must be an object"))
    assert isinstance(good, Instance)
    file = tmp_path / "a.json"
    file.write_text("{")
    with pytest.raises(UsageError, match="no JSON"):
        list(instances(file))
    with pytest.raises(UsageError, match="cannot be read"):
        list(instances(tmp_path / "none.jsonl"))
