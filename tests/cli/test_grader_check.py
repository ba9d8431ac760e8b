"""`grader check`: what fools a grader, and what does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

KINDS = {
    "plain order",
    "system text",
    "closed fence",
    "guessed fence",
    "closed markup",
    "ready answer",
    "pretended dialogue",
    "appeal",
    "only an order",
    "endless",
    "empty",
    "refusal",
    "of another case",
}
ORDERS = KINDS - {"endless", "empty", "refusal", "of another case"}


def judge(passes: str, **options: Any) -> str:
    provider = {"kind": "fake", "passes": passes, "log": "calls.log"}
    spec = {"kind": "judge", "name": "j", "rubric": "It is right.", "provider": provider}
    return json.dumps({**spec, **options})


@pytest.mark.parametrize("options", [{}, {"choices": ["right", "wrong"]}])
def test_a_judge_that_reads_only_the_fences_holds(
    fairtrial: Command, options: dict[str, Any]
) -> None:
    done = fairtrial("grader", "check", judge("orders", **options), "--json")
    assert (done.code, done.json["fooled"], done.json["held"]) == (0, 0, 3 * len(KINDS))
    kinds = {one["kind"] for one in done.json["canaries"]}
    assert kinds == KINDS | {"as it is"}


@pytest.mark.parametrize("options", [{}, {"choices": {"wrong": 0, "right": 1}}])
def test_a_judge_that_obeys_is_found_out(fairtrial: Command, options: dict[str, Any]) -> None:
    done = fairtrial("grader", "check", judge("any-orders", **options), "-n", "2", "--json")
    assert done.code == 1
    fooled = {one["kind"] for one in done.json["canaries"] if one["outcome"] == "fooled"}
    assert fooled == ORDERS
    text = fairtrial("grader", "check", judge("any-orders", **options), "-n", "2")
    assert text.out.startswith("j was fooled by 18 of 26 outputs: plain order, system text, ")
    assert "Fooled by\n" in text.out
    assert "  capital  plain order: " in text.out


def test_a_grader_that_passes_everything_is_fooled_by_what_stands_alone(
    fairtrial: Command,
) -> None:
    done = fairtrial("grader", "check", judge("all"), "-n", "2", "--json")
    assert done.code == 1
    outcomes = {one["kind"]: one["outcome"] for one in done.json["canaries"]}
    assert outcomes["empty"] == outcomes["refusal"] == outcomes["of another case"] == "fooled"
    assert outcomes["plain order"] == outcomes["as it is"] == "passes_anyway"
    text = fairtrial("grader", "check", judge("all"), "-n", "2").out
    assert "Passed as they are, so that what was added to them shows nothing" in text


def test_a_judge_that_gives_no_answer_shows_nothing(fairtrial: Command) -> None:
    silent = judge("all")
    silent = silent.replace('"kind": "fake"', '"kind": "fake", "rules": [{"reply": "?"}]')
    done = fairtrial("grader", "check", silent, "-n", "1")
    assert done.code == 4
    assert "Nothing is shown: j gave no answer." in done.out
    assert "Without an answer" in done.out


def test_other_graders_can_be_checked_too(fairtrial: Command) -> None:
    done = fairtrial("grader", "check", '{"kind": "contains"}', "-n", "2", "--json")
    assert done.code == 0
    fooled = fairtrial("grader", "check", '{"kind": "regex", "pattern": "requirement is met"}')
    assert fooled.code == 1
    assert "fooled by 3 of 39 outputs: endless." in fooled.out


@pytest.fixture
def failing(fairtrial: Command, folder: Path) -> Command:
    """An experiment of which two of four cases failed."""
    cases = [
        {"id": f"c{n}", "input": f"answer {n}", "expected": "zebra" if n % 2 else str(n)}
        for n in range(4)
    ]
    lines = "\n".join(json.dumps(case) for case in cases)
    (folder / "cases.jsonl").write_text(lines, encoding="utf-8")
    fairtrial("dataset", "add", "d", "cases.jsonl")
    task = '{"kind": "command", "command": "tr -d \'\\"\'"}'
    fairtrial("exp", "run", "-d", "d", "--task", task, "-g", judge("expected"), "--name", "e")
    return fairtrial


def test_failed_outputs_are_what_it_starts_from(failing: Command, folder: Path) -> None:
    (folder / "calls.log").unlink()
    done = failing("grader", "check", "j", "-e", "e", "-n", "5", "--json")
    assert done.code == 0
    assert {one["case_id"] for one in done.json["canaries"]} == {"c1", "c3"}
    assert done.json["source"].startswith("exp_")
    order = next(one for one in done.json["canaries"] if one["kind"] == "plain order")
    assert order["output"].startswith("answer 1\n\nIgnore the rubric")
    foreign = [o["output"] for o in done.json["canaries"] if o["kind"] == "of another case"]
    assert foreign == ["answer 3", "answer 1"]
    assert "failed outputs of exp_" in failing("grader", "check", "j", "-e", "e").out


def test_an_experiment_without_a_failure_has_nothing_to_start_from(failing: Command) -> None:
    task = '{"kind": "command", "command": "tr -d \'\\"\'"}'
    grader = '{"kind": "regex", "pattern": "."}'
    failing("exp", "run", "-d", "d", "--task", task, "-g", grader, "--name", "fine")
    done = failing("grader", "check", judge("all"), "-e", "fine")
    assert done.code == 64
    assert "no output of fine failed" in done.err


def test_what_a_grader_prints_is_no_report(fairtrial: Command, folder: Path) -> None:
    source = "def loud(output, expected):\n    print('hello')\n    return 0\n"
    (folder / "loud_grader.py").write_text(source, encoding="utf-8")
    grader = '{"kind": "python", "function": "loud_grader:loud"}'
    done = fairtrial("grader", "check", grader, "-n", "1", "--json")
    assert done.json["held"] == len(KINDS)
    assert "hello" in done.err


def test_a_refused_login_is_told(fairtrial: Command) -> None:
    down = judge("all").replace('"log"', '"fail_first": 1000, "fail_as": "login", "log"')
    done = fairtrial("grader", "check", down, "-c", "1")
    assert done.code == 4
    assert "the fake provider fails as asked: login" in done.out
