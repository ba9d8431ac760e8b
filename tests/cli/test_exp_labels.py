"""`exp labels`: what people said on the page of reviews, as labels that other verbs read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from fairtrial.app.bench import bench_here
from fairtrial.app.row_actions import send_to_review, settle_review
from fairtrial.model.review import Opinion

CASES = 4


@pytest.fixture
def reviewed(fairtrial: Command, folder: Path) -> Command:
    """Two experiments, of whose rows people said something."""
    cases = [
        {"id": f"c{n}", "input": str(n), "expected": str(n % 2), "condition": condition}
        for n in range(CASES)
        for condition in ("clean", "attack")
    ]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    fairtrial("dataset", "add", "d", "cases.jsonl")
    task = '{"kind": "command", "command": ["cat"]}'
    for name in ("one", "two"):
        ran = fairtrial("exp", "run", "-d", "d", "--task", task, "-g", "contains", "--name", name)
        assert ran.code == 0
        for n in range(CASES):
            say(name, f"c{n}", Opinion.PASSED if n % 2 else Opinion.FAILED, note="")
    return fairtrial


def say(name: str, case: str, opinion: Opinion, note: str) -> None:
    bench = bench_here()
    item = send_to_review(bench, name, (case, "clean", "main"))
    settle_review(bench, item.id, opinion, note)


def test_labels_have_the_last_word_on_each_row(reviewed: Command) -> None:
    say("one", "c0", Opinion.UNCLEAR, "the\u2028ticket is missing")
    told = reviewed("exp", "labels", "one")
    assert told.code == 0
    lines = [json.loads(line) for line in told.out.split("\n") if line]
    assert {(one["caseId"], one["condition"], one["value"]) for one in lines} == {
        ("c0", "clean", "skip"),
        ("c1", "clean", "pass"),
        ("c2", "clean", "fail"),
        ("c3", "clean", "pass"),
    }
    assert [one.get("note") for one in lines if one["caseId"] == "c0"] == [
        "the\u2028ticket is missing"
    ]
    assert all("note" not in one for one in lines if one["caseId"] != "c0")


def test_graders_are_held_against_them(reviewed: Command) -> None:
    say("one", "c3", Opinion.FAILED, "it is rude")
    reviewed("exp", "labels", "one", "-o", "people.jsonl")
    told = reviewed(
        *("grader", "calibrate", "contains", "--labels", "people.jsonl", "-e", "one"),
        *("--split", "all"),
    )
    assert "Where they differ: 1 output\n  c0 [clean]  people: fail" in told.out


def test_a_difference_is_corrected_by_them(reviewed: Command) -> None:
    reviewed("exp", "labels", "one", "-o", "a.jsonl")
    reviewed("exp", "labels", "two", "-o", "b.jsonl")
    told = reviewed(
        *("exp", "compare", "one", "two", "--labels-a", "a.jsonl", "--labels-b", "b.jsonl"),
        *("--min-labels", "2"),
    )
    assert "Corrected by people's labels" in told.out


def test_without_a_word_it_says_where_to_say_one(reviewed: Command) -> None:
    task = '{"kind": "command", "command": ["cat"]}'
    reviewed("exp", "run", "-d", "d", "--task", task, "-g", "contains", "--name", "three")
    told = reviewed("exp", "labels", "three", "-o", "c.jsonl")
    assert told.code == 66
    assert "nobody has said anything of a row of three" in told.err
    assert not Path("c.jsonl").exists()
