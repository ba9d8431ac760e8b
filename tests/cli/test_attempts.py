"""`exp run --seq`: attempts with feedback, Seq@K, and `exp compare --verdict seq`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command, Outcome

from fairtrial.model.errors import ExitCode

# Stands in for an agent that learns: case n is right from attempt n % 4 + 1 on; every fourth is
# right at once. `late` needs one attempt more.
LEARNER = """
from fairtrial.model.task import TaskResult


def learner(n, call, late=0):
    right = call.attempt > n % 4 + late
    return TaskResult(str(n) if right else "wrong", cost_usd=0.5)


def shown(n, call):
    return {"n": n, "seen": [[e.output, e.feedback] for e in call.earlier]}
"""


def learner(late: int = 0) -> str:
    return json.dumps({"kind": "python", "function": "agents:learner", "arguments": {"late": late}})


@pytest.fixture
def run(
    fairtrial: Command, folder: Path, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """Run an experiment over 20 numbers with agents that are known."""
    (folder / "agents.py").write_text(LEARNER)
    monkeypatch.delitem(sys.modules, "agents", raising=False)

    def start(*words: str) -> Outcome:
        return fairtrial("exp", "run", "-d", numbers, *EXACT, "--seed", "1", *words)

    yield start
    sys.modules.pop("agents", None)


def rates(report: Any, arm: str = "main") -> list[float]:
    return [entry["estimate"] for entry in report["design"]["facts"]["arms"][arm]["seq"]]


class TestSeq:
    def test_the_pass_rate_is_the_first_attempts_and_seq_grows(self, run: Command) -> None:
        report = run("--task", learner(), "--seq", "3", "--json").json
        assert report["pass_rate"]["estimate"] == 0.25
        assert rates(report) == [0.25, 0.5, 0.75]
        seq = report["design"]["facts"]["arms"]["main"]
        assert seq["seq"][0]["ci"] == report["pass_rate"]["ci"]
        assert seq["further_attempts"] == 15 + 10
        assert seq["further_cost_usd"] == 12.5
        assert report["cost_usd"] == 10.0

    def test_the_text_shows_it_and_exp_show_says_it_again(
        self, run: Command, fairtrial: Command
    ) -> None:
        out = run("--task", learner(), "--seq", "3", "--name", "tries").out
        assert "Seq@3" in out
        assert "25 further attempts cost $12.5" in out
        assert "Pass rate" in out
        assert "Seq@3" in fairtrial("exp", "show", "tries").out

    def test_trials_of_a_case_are_folded(self, run: Command) -> None:
        report = run("--task", learner(), "--seq", "2", "--trials", "2", "--json").json
        assert rates(report) == [0.25, 0.5]
        last = report["design"]["facts"]["arms"]["main"]["seq"][1]
        assert (last["n"], last["trials"]) == (20, 40)

    @pytest.mark.parametrize(("history", "seen"), [("full", 2), ("last", 1)])
    def test_an_attempt_is_told_of_those_before(
        self, run: Command, fairtrial: Command, history: str, seen: int
    ) -> None:
        words = ("--seq", "3", "--feedback", "bit", "--seq-history", history, "--first-n", "1")
        task = json.dumps({"kind": "python", "function": "agents:shown"})
        report = run("--task", task, *words, "--json").json
        shown = fairtrial("exp", "show", report["id"], "--case", "c0000", "--json").json
        attempts = shown["trials"][0]["attempts"]
        assert [len(attempt["output"]["seen"]) for attempt in attempts] == [0, 1, seen]
        assert attempts[0]["feedback"] == "That was not right. Try again."
        assert attempts[-1]["feedback"] is None
        text = fairtrial("exp", "show", report["id"], "--case", "c0000").out
        assert "attempt 2: failed" in text

    def test_a_program_reads_earlier_attempts_from_its_envelope(
        self, run: Command, folder: Path
    ) -> None:
        (folder / "agent.py").write_text(
            "import json, sys\n"
            "told = json.load(sys.stdin)\n"
            "seen = [a['output'] + ': ' + a['feedback'] for a in told['attempts']]\n"
            "said = 'That was not right. Try again.\\n- exact: not what is expected'\n"
            "right = seen == ['no: ' + said]\n"
            "print(json.dumps({'output': str(told['input']) if right else 'no'}))\n"
        )
        task = {"kind": "command", "command": ["python3", "agent.py"], "envelope": True}
        report = run("--task", json.dumps(task), "--seq", "2", "--first-n", "3", "--json").json
        assert rates(report) == [0.0, 1.0]

    def test_a_critic_is_asked_and_paid_apart(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        (folder / "critics.py").write_text(
            "def say(output, expected):\n"
            "    return {'score': 0, 'reason': f'{output} is odd; I was told {expected}'}\n"
        )
        critic = 'critic={"kind":"python","function":"critics:say"}'
        words = ("--seq", "2", "--feedback", critic, "--first-n", "2")
        report = run("--task", learner(), *words, "--json").json
        shown = fairtrial("exp", "show", report["id"], "--case", "c0001", "--json").json
        told = shown["trials"][0]["attempts"][0]["feedback"]
        assert told.endswith("wrong is odd; I was told None")
        assert [grader["grader"] for grader in report["graders"]] == ["exact"]

    def test_a_spec_holds_a_critic(self, run: Command, fairtrial: Command, folder: Path) -> None:
        spec = {
            "dataset": "numbers",
            "task": json.loads(learner()),
            "graders": ["exact"],
            "seq": 2,
            "feedback": {"critic": {"kind": "json_schema", "schema": {"type": "object"}}},
            "seq_history": "last",
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        report = fairtrial("exp", "run", "spec.json", "--json").json
        design = report["spec"]["design"]
        assert (design["attempts"], design["feedback"], design["history"]) == (2, "critic", "last")
        assert design["critic"]["kind"] == "json_schema"
        del run

    def test_two_arms_have_seq_each(self, run: Command) -> None:
        arms = ("--arm", f"base={learner(1)}", "--arm", f"cand={learner()}")
        done = run(*arms, "--seq", "2", "--json")
        assert rates(done.json, "base") == [0.0, 0.25]
        assert rates(done.json, "cand") == [0.25, 0.5]
        assert done.json["comparison"]["delta"]["estimate"] == 0.25

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--task", CAT, "--seq", "3"), "without an envelope"),
            (("--task", '{"kind":"http","url":"http://x"}', "--seq", "3"), "without an envelope"),
            (("--task", learner(), "--seq", "1"), ">= 2"),
            (("--task", learner(), "--seq", "11"), "<= 10"),
            (("--task", learner(), "--feedback", "bit"), "no effect without --seq"),
            (("--task", learner(), "--seq-history", "last"), "no effect without --seq"),
            (("--task", learner(), "--seq", "2", "--feedback", "all"), "'all' is no feedback"),
            (
                ("--task", learner(), "--seq", "2", "--feedback", "critic=exact"),
                "could only say the expected answer",
            ),
            (("--task", learner(), "--seq", "2", "--feedback", "critic={"), "not JSON"),
            (("--task", learner(), "--seq", "2", "--feedback", "critic=x.json"), "no such file"),
            (("--task", learner(), "--seq", "2", "--samples", "adaptive"), "cannot be combined"),
            (("--task", learner(), "--seq", "2", "--record"), "cannot be combined"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, run: Command, words: tuple[str, ...], message: str
    ) -> None:
        done = run(*words)
        assert done.code in (ExitCode.USAGE, ExitCode.NOT_FOUND)
        assert message in done.err


class TestMoney:
    def test_a_limit_counts_further_attempts_also_when_resumed(
        self, run: Command, fairtrial: Command
    ) -> None:
        limited = ("--seq", "3", "-c", "1", "--max-cost", "6", "--name", "dear")
        assert run("--task", learner(), *limited).code == ExitCode.REFUSED
        before = fairtrial("exp", "show", "dear", "--json").json
        assert before["cost_usd"] < 6
        again = fairtrial("exp", "run", "--resume", "dear", "--max-cost", "6")
        assert again.code == ExitCode.REFUSED
        after = fairtrial("exp", "show", "dear", "--json").json
        assert after["n_recorded"] == before["n_recorded"]
        done = fairtrial("exp", "run", "--resume", "dear", "--max-cost", "100", "--json")
        assert rates(done.json) == [0.25, 0.5, 0.75]


class TestVerdictSeq:
    def test_it_compares_what_was_solved_within_k(self, run: Command, fairtrial: Command) -> None:
        run("--task", learner(3), "--seq", "3", "--name", "a")
        run("--task", learner(), "--seq", "3", "--name", "b")
        report = fairtrial("exp", "compare", "a", "b", "--verdict", "seq", "--json").json
        assert (report["delta"]["a"], report["delta"]["b"]) == (0.0, 0.75)
        assert report["sentence"].startswith("By Seq@3: ")
        plain = fairtrial("exp", "compare", "a", "b", "--json").json
        assert plain["delta"]["estimate"] == 0.25
        text = fairtrial("exp", "compare", "a", "b", "--verdict", "seq").out
        assert "solved within 3 attempts (Seq@3)" in text

    def test_runs_with_other_attempts_are_refused(self, run: Command, fairtrial: Command) -> None:
        run("--task", learner(), "--seq", "2", "--name", "a")
        run("--task", learner(), "--name", "plain")
        run("--task", learner(), "--seq", "3", "--name", "c")
        run("--task", learner(), "--seq", "2", "--feedback", "bit", "--name", "d")
        for other, why in (
            ("plain", "without sequential attempts"),
            ("c", "other sequential attempts"),
            ("d", "other sequential attempts"),
        ):
            done = fairtrial("exp", "compare", "a", other, "--verdict", "seq")
            assert (done.code, why in done.err) == (ExitCode.USAGE, True), other
