"""What options of designs, arms and matrices refuse: what is wrong, why, and what to do instead."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import EXACT, Command, Outcome, write_cases

from fairtrial.model.errors import ExitCode

AGENT = """
def agent(n, call, kind="good"):
    wrong = {"good": False, "bad": n % 2 == 0, "never": True, "second": call.attempt == 1}[kind]
    return "no" if wrong else str(n)


def critic(*_words, **_more):
    raise RuntimeError("the critic is broken")
"""

Write = Callable[..., str]


def agent(kind: str) -> dict[str, Any]:
    return {"kind": "python", "function": "refused:agent", "arguments": {"kind": kind}}


GOOD, BAD, NEVER, SECOND = (json.dumps(agent(k)) for k in ("good", "bad", "never", "second"))
ARMS = ("--arm", f"a={BAD}", "--arm", f"b={GOOD}")
HELD = ("--stop-on-regression", "--baseline", "held")


@pytest.fixture
def run(
    fairtrial: Command, folder: Path, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """Run an experiment over 20 numbers with agents that are known."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "refused.py").write_text(AGENT)

    def start(*words: str) -> Outcome:
        dataset = () if "-d" in words else ("-d", numbers)
        graders = () if "-g" in words else EXACT
        return fairtrial("exp", "run", *dataset, *graders, "--seed", "1", *words)

    yield start
    sys.modules.pop("refused", None)


@pytest.fixture
def spec(run: Command, fairtrial: Command, folder: Path, numbers: str) -> Command:
    """Run the spec that some text is, as a file of some kind."""
    del run

    def start(text: str | dict[str, Any], *words: str, suffix: str = ".json") -> Outcome:
        base = {"dataset": numbers, "graders": ["exact"], "task": agent("good"), "seed": 1}
        text = json.dumps({**base, **text}) if isinstance(text, dict) else text
        (folder / f"spec{suffix}").write_text(text)
        return fairtrial("exp", "run", f"spec{suffix}", *words)

    return start


def refused(done: Outcome, *said: str) -> None:
    assert done.code == ExitCode.USAGE, done.err
    assert done.out == ""
    for words in ("error: ", "fix: ", *said):
        assert words in done.err


class TestArms:
    @pytest.mark.parametrize(
        "name", ["a" * 201, "a" * 100_000, "a\nb", "\u202eevil", "\x1b[31m", "a\x00", "\u200b"]
    )
    def test_a_name_that_cannot_be_shown_is_refused_in_two_lines(
        self, run: Command, name: str
    ) -> None:
        done = run("--arm", f"{name}={GOOD}", "--arm", f"b={BAD}")
        refused(done, "is no name of an arm")
        assert len(done.err.splitlines()) == 2
        assert len(done.err) < 400

    @pytest.mark.parametrize("name", ["ü", "日本語", "a b", "..", "<script>", "a" * 200])
    def test_any_other_name_will_do(self, run: Command, name: str) -> None:
        done = run("--arm", f"{name}={BAD}", "--arm", f"b={GOOD}", "--json")
        assert done.code == 0, done.err
        assert done.json["arms"] == [name, "b"]

    def test_an_object_with_a_field_twice_is_refused(self, run: Command, folder: Path) -> None:
        twice = '{"kind": "command", "kind": "python", "command": "cat"}'
        (folder / "twice.json").write_text(twice)
        for arm in ("twice.json", twice):
            done = run("--arm", f"a={arm}", "--arm", f"b={GOOD}")
            assert done.code == ExitCode.USAGE
            assert "holds 'kind' twice" in done.err

    def test_the_same_arm_twice_in_a_spec_is_not_one_arm(self, spec: Command) -> None:
        text = '{{"dataset": "numbers", "graders": ["exact"], "arms": {{"a": {}, "a": {}}}}}'
        done = spec(text.format(GOOD, BAD))
        assert (done.code, "holds 'a' twice" in done.err) == (ExitCode.USAGE, True)
        text = f"dataset: numbers\ngraders: [exact]\narms:\n  a: {GOOD}\n  a: {BAD}\n"
        done = spec(text, suffix=".yaml")
        assert (done.code, "line 5 holds 'a' a second time" in done.err) == (ExitCode.USAGE, True)


class TestCombinations:
    CHOICES = (
        ("--seq", "2"),
        ("--stop-early",),
        ("--samples", "adaptive"),
        ("--stop-on-regression",),
    )

    @pytest.mark.parametrize("first", CHOICES)
    @pytest.mark.parametrize("second", CHOICES)
    def test_two_designs_are_refused_with_the_reason(
        self, run: Command, first: tuple[str, ...], second: tuple[str, ...]
    ) -> None:
        if first != second:
            refused(run("--task", GOOD, *first, *second), "cannot be combined", "why: ")

    def test_a_recording_holds_no_reruns(self, run: Command) -> None:
        done = run("--task", GOOD, *HELD, "--record")
        refused(done, "--record and --stop-on-regression cannot be combined", "why: ")

    def test_a_regression_is_one_of_one_arm(self, run: Command) -> None:
        assert run("--task", GOOD, "--name", "held").code == 0
        refused(run(*ARMS, *HELD), "holds one arm", "this run has 2 arms")

    def test_a_resume_keeps_the_order_of_the_arms(self, run: Command) -> None:
        assert run(*ARMS, "--name", "pair").code == 0
        turned = (*ARMS[2:], *ARMS[:2])
        done = run(*turned, "--resume", "pair")
        refused(done, "has its arms in another order: a, b", "exp run --resume exp_")
        assert run(*ARMS, "--resume", "pair").code == 0


class TestEarlyStopping:
    @pytest.mark.parametrize(("cases", "looks", "may"), [(19, 2, True), (18, 2, False)])
    def test_looks_that_can_stop_nothing_are_refused(
        self, run: Command, cases: int, looks: int, *, may: bool
    ) -> None:
        words = (*ARMS, "--stop-early", "--looks", str(looks), "--max-cases", str(cases))
        done = run(*words)
        if may:
            assert done.code == 0, done.err
        else:
            refused(done, f"cannot stop a run of {cases} cases", "why: a look needs 10 cases")


class TestStopOnRegression:
    def test_a_baseline_of_other_cases_is_refused(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        lines = [json.dumps({"id": f"x{n}", "input": n, "expected": str(n)}) for n in range(5)]
        (folder / "others.jsonl").write_text("\n".join(lines))
        fairtrial("dataset", "add", "others", "others.jsonl")
        assert run("-d", "others", "--task", GOOD, "--name", "held").code == 0
        done = run("--task", GOOD, *HELD)
        refused(done, "none could regress", "share no case of the same content")

    def test_a_case_whose_content_is_another_by_now_is_not_held(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        assert run("--task", GOOD, "--name", "held").code == 0
        text = write_cases(folder / "changed.jsonl", 20).read_text()
        (folder / "changed.jsonl").write_text(text.replace('"expected": "4"', '"expected": "no"'))
        fairtrial("dataset", "add", "numbers", "changed.jsonl")
        done = run("--task", GOOD, *HELD, "--json")
        assert done.code == 0, done.err
        facts = done.json["design"]["facts"]
        assert (facts["solved"], facts["regressed"]) == (19, [])

    def test_a_baseline_that_solved_nothing_is_refused(self, run: Command) -> None:
        assert run("--task", NEVER, "--name", "held").code == 0
        refused(run("--task", GOOD, *HELD), "none could regress", "share 20 cases")

    def test_other_graders_are_refused(self, run: Command) -> None:
        assert run("--task", GOOD, "--name", "held").code == 0
        done = run("--task", GOOD, "-g", "contains", *HELD)
        refused(done, "cannot be held to held", "why: other graders", "exp regrade exp_")

    def test_of_an_unfinished_baseline_only_whole_cases_count(
        self, run: Command, folder: Path
    ) -> None:
        # What may be spent is spent when every case has run once.
        (folder / "refused.py").write_text(
            AGENT + "\n\nfrom fairtrial.model.task import TaskResult\n\n\n"
            "def dear(n):\n"
            "    return TaskResult(str(n), cost_usd=0.5)\n"
        )
        dear = json.dumps({"kind": "python", "function": "refused:dear"})
        words = ("--task", dear, "--trials", "2", "--max-cost", "10", "-c", "1", "--name", "held")
        stopped = run(*words, "--json").json
        assert (stopped["status"], stopped["passed"]) == ("stopped", 20)
        refused(run("--task", GOOD, *HELD), "none could regress")


class TestFeedback:
    @pytest.mark.parametrize("given", ["", "Bit", "critic", "critic=", "critic= "])
    def test_what_is_no_feedback_is_refused(self, run: Command, given: str) -> None:
        refused(run("--task", SECOND, "--seq", "2", "--feedback", given), "is no feedback")

    def test_an_empty_object_is_none(self, spec: Command) -> None:
        refused(spec({"seq": 2, "feedback": {}}), "has one key, 'critic'")

    def test_a_critic_that_says_nothing_is_told(self, run: Command) -> None:
        critic = json.dumps({"kind": "python", "function": "refused:critic"})
        words = ("--task", SECOND, "--seq", "2", "--feedback", f"critic={critic}")
        done = run(*words, "--json")
        assert done.code == 0, done.err
        facts = done.json["design"]["facts"]["arms"]["main"]
        assert (facts["critic_silent"], facts["critic_unavailable"]) == (20, 0)
        assert (
            "The critic gave no reason, or one that was kept back, before 20 of" in run(*words).out
        )


MATRIX = "dataset: numbers\ngraders: [exact]\ntask: {kind: python, function: 'refused:agent'}\n"


class TestMatrix:
    KIND = "arguments.kind"

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"matrix": {}}, "'matrix' names no field"),
            ({"matrix": {KIND: []}}, "has no value"),
            ({"matrix": {KIND: ["bad"]}}, "only the baseline cell"),
            ({"matrix": {KIND: ["bad", "bad"]}}, "two cells are called"),
            ({"matrix": {"a..b": [1, 2]}}, "is no path of a field"),
            ({"matrix": {".".join("a" * 5_000): [1, 2]}}, "is no path of a field"),
            ({"matrix": {f"a{n}": list(range(10)) for n in range(4)}}, "10,000 cells"),
            ({"matrix": {KIND: ["bad", "good"]}, "baseline_cell": "none"}, "unknown cell 'none'"),
            ({"matrix": {KIND: ["bad", "good"]}, "cells": ["none"]}, "unknown cell 'none'"),
            ({"variants": [{KIND: "bad"}]}, "needs a 'name'"),
            ({"variants": [{"name": "v" * 201, KIND: "bad"}]}, "needs a 'name'"),
            ({"variants": [{"name": "v"}]}, "changes nothing"),
            ({"variants": [{"name": "v", KIND: "good"}]}, "are the same task"),
            ({"variants": [{"name": "base", KIND: "bad"}]}, "two cells are called"),
        ],
    )
    def test_what_makes_no_matrix_is_refused(
        self, spec: Command, fields: dict[str, Any], said: str
    ) -> None:
        refused(spec(fields), said)

    def test_a_cell_that_does_not_run_cannot_be_copied(self, spec: Command) -> None:
        matrix = {"matrix": {self.KIND: ["bad", "good", "never"]}}
        done = spec(matrix, "--cell", "kind=good", "--reuse", "kind=never")
        refused(done, "names the cell 'kind=never', which does not run")

    @pytest.mark.parametrize("age", ["1", "", "x", "1e9w"])
    def test_what_is_no_age_is_refused(self, spec: Command, age: str) -> None:
        matrix = {"matrix": {self.KIND: ["bad", "good"]}}
        refused(spec(matrix, "--reuse", "all", f"--reuse-max-age={age}"), "is no age")

    def test_a_date_is_no_value_of_json(self, spec: Command) -> None:
        done = spec(MATRIX + "matrix: {arguments.kind: [2020-01-01, bad]}\n", suffix=".yaml")
        assert done.code == ExitCode.USAGE
        assert "2020-01-01 is read as a date, which JSON has not" in done.err
        done = spec('dataset = "numbers"\nname = 2020-01-01\n', suffix=".toml")
        assert (done.code, "put it in quotes" in done.err) == (ExitCode.USAGE, True)

    def test_a_key_twice_is_not_the_last_of_them(self, spec: Command) -> None:
        twice = "matrix: {arguments.kind: [good, bad]}\n" * 2
        done = spec(MATRIX + twice, suffix=".yaml")
        assert (done.code, "holds 'matrix' a second time" in done.err) == (ExitCode.USAGE, True)

    def test_merged_keys_may_be_set_again(self, spec: Command) -> None:
        text = (
            "dataset: numbers\ngraders: [exact]\nseed: 1\n"
            "arms:\n"
            f"  a: &a {BAD}\n"
            "  b:\n    <<: *a\n    arguments: {kind: good}\n"
        )
        assert spec(text, suffix=".yaml").code == 0
