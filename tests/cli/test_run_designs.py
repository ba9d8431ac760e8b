"""`exp run` with arms, early stopping, adaptive samples and a stop on regressions."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command, Outcome, process, write_cases
from tests.cli.test_interrupts import recorded, until

from fairtrial.model.errors import ExitCode

# Stands in for an agent: which cases it gets wrong is fixed by its argument and the trial.
AGENT = """
import json, os, sys
case = json.load(sys.stdin)
n, trial = case["input"], case["trial"]
wrong = {
    "good": False,
    "bad": n % 2 == 0,
    "flaky": n % 5 == 0 and trial % 2 == 0,
    "regressed": n == 7,
    "unlucky": n == 7 and not os.path.exists("seen"),
}[sys.argv[1]]
if sys.argv[1] == "unlucky" and n == 7:
    open("seen", "w").close()
print(json.dumps({"output": "no" if wrong else str(n)}))
"""


def agent(kind: str) -> str:
    command = ["python3", "agent.py", kind]
    return json.dumps({"kind": "command", "command": command, "envelope": True})


@pytest.fixture
def run(fairtrial: Command, folder: Path, numbers: str) -> Command:
    """Run an experiment over 20 numbers with agents that are known."""
    (folder / "agent.py").write_text(AGENT)

    def start(*words: str) -> Outcome:
        dataset = () if "-d" in words else ("-d", numbers)
        return fairtrial("exp", "run", *dataset, *EXACT, "--seed", "1", *words)

    return start


ARMS = ("--arm", f"base={agent('bad')}", "--arm", f"cand={agent('good')}")


def table(fairtrial: Command, experiment: str) -> list[Any]:
    """Return what the rows of an experiment came to, without times and ids."""
    out = fairtrial("exp", "export", experiment, "--to", "jsonl").out
    trials = [json.loads(line) for line in out.splitlines()]
    return sorted(
        [t["case_id"], t["arm"], t["trial"], t["verdict"], t["output"]]
        for t in trials
        if "case_id" in t
    )


class TestArms:
    def test_two_arms_run_side_by_side_and_are_compared(
        self, run: Command, fairtrial: Command
    ) -> None:
        done = run(*ARMS, "--json")
        assert done.code == 0, done.err
        report = done.json
        assert [arm["pass_rate"]["estimate"] for arm in report["arm_rates"]] == [0.5, 1.0]
        assert report["pass_rate"]["estimate"] == 1.0
        assert report["comparison"]["delta"]["estimate"] == 0.5
        again = fairtrial("exp", "compare", report["id"], "--json").json
        assert again["delta"] == report["comparison"]["delta"]

    def test_the_text_ends_with_the_verdict_and_what_to_do_next(self, run: Command) -> None:
        out = run(*ARMS).out
        assert "Pass rate of each arm" in out
        assert "cand is better than base" in out
        assert out.index("Pass rate of each arm") < out.index("cand is better than base")

    def test_arms_stand_in_a_spec_and_in_files(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        (folder / "cand.json").write_text(agent("good"))
        spec = {
            "dataset": "numbers",
            "graders": ["exact"],
            "arms": {"base": json.loads(agent("bad")), "cand": "cand.json"},
        }
        (folder / "spec.json").write_text(json.dumps(spec))
        report = fairtrial("exp", "run", "spec.json", "--json").json
        assert [arm["arm"] for arm in report["arm_rates"]] == ["base", "cand"]
        del run

    def test_a_random_subset_is_drawn_with_the_seed(self, run: Command, fairtrial: Command) -> None:
        first, second = (run(*ARMS, "--max-cases", "5", "--json").json for _ in range(2))
        assert first["n_cases"] == 5
        cases = [{row[0] for row in table(fairtrial, report["id"])} for report in (first, second)]
        assert cases[0] == cases[1]
        assert len(cases[0]) == 5

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--arm", "a=x.json"), "one arm only"),
            (("--arm", "a={}", "--arm", "b={}", "--arm", "c={}"), "3 arms"),
            (("--arm", "a", "--arm", "b={}"), "'a' is not NAME=JSON or NAME=FILE"),
            (("--arm", f"a={CAT}", "--arm", f"a={agent('bad')}"), "both arms are called 'a'"),
            (("--arm", f"a={CAT}", "--arm", f"b={CAT}"), "both arms have the same task"),
            (("--arm", f"a:b={CAT}", "--arm", f"b={CAT}"), "'a:b' is no name of an arm"),
            (("--arm", "a={", "--arm", f"b={CAT}"), "not JSON"),
            (("--arm", "a=[]", "--arm", f"b={CAT}"), "neither JSON nor a file"),
            (("--arm", 'a={"kind":"x"}', "--arm", f"b={CAT}"), "x"),
            ((*ARMS, "--task", CAT), "both a task and arms are given"),
        ],
    )
    def test_what_makes_no_two_arms_is_refused(
        self, run: Command, words: tuple[str, ...], message: str
    ) -> None:
        done = run(*words)
        assert done.code in (ExitCode.USAGE, ExitCode.NOT_FOUND)
        assert message in done.err or "no such file" in done.err

    def test_an_arm_whose_file_is_not_there_is_told(self, run: Command) -> None:
        done = run("--arm", "a=gone.json", "--arm", f"b={CAT}")
        assert (done.code, "gone.json" in done.err) == (ExitCode.NOT_FOUND, True)


class TestEarlyStopping:
    def test_it_stops_once_the_evidence_suffices_and_says_what_was_saved(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        write_cases(folder / "many.jsonl", 80)
        fairtrial("dataset", "add", "many", "many.jsonl")
        done = run("-d", "many", *ARMS, "--stop-early", "--looks", "4", "--json")
        assert done.code == 0, done.err
        design = done.json["design"]
        assert design["facts"]["stopped"] is True
        assert [look["cases"] for look in design["facts"]["looks"]] == [20, 40]
        assert design["facts"]["saved"] == {"cases": 40, "trials": 80}
        estimate = design["facts"]["estimate"]
        assert 0 < estimate["median_unbiased"] < estimate["naive"]
        assert estimate["interval"]["lower"] < estimate["median_unbiased"]
        shown = fairtrial("exp", "show", done.json["id"], "--json").json
        assert shown["design"] == design

    def test_the_text_shows_every_look(self, run: Command) -> None:
        out = run(*ARMS, "--stop-early", "--looks", "2").out
        assert "All 2 looks were taken" in out
        assert "Look  Cases" in out

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("--task", CAT, "--stop-early"), "--stop-early compares two arms"),
            (("--task", CAT, "--looks", "3"), "--looks has no effect without --stop-early"),
            ((*ARMS, "--stop-early", "--looks", "1"), ">= 2"),
            ((*ARMS, "--stop-early", "--samples", "adaptive"), "cannot be combined"),
        ],
    )
    def test_options_that_make_no_sense_are_refused(
        self, run: Command, words: tuple[str, ...], message: str
    ) -> None:
        done = run(*words)
        assert done.code == ExitCode.USAGE
        assert message in done.err


class TestAdaptiveSamples:
    def test_a_third_trial_is_run_where_two_disagree_and_no_interval_is_given(
        self, run: Command
    ) -> None:
        done = run("--task", agent("flaky"), "--samples", "adaptive")
        assert done.code == 0, done.err
        assert "20 of 20 cases passed by most of their trials; 4 needed a third" in done.out
        assert "interval" not in done.out.replace("No interval is reported", "")

    def test_its_numbers_are_in_the_json(self, run: Command) -> None:
        arm = run("--task", agent("flaky"), "--samples", "adaptive", "--json").json["design"]
        facts = arm["facts"]["arms"]["main"]
        assert facts == {
            "cases": 20,
            "verdict_rate": 1.0,
            "pass_at_1": 0.9,
            "third_trials": 4,
            "trials": 44,
        }

    def test_the_number_of_trials_is_its_own(self, run: Command) -> None:
        done = run("--task", CAT, "--samples", "adaptive", "--trials", "3")
        assert (done.code, "decides how many" in done.err) == (ExitCode.USAGE, True)


class TestStopOnRegression:
    @pytest.fixture
    def held(self, run: Command, fairtrial: Command, folder: Path) -> Command:
        write_cases(folder / "many.jsonl", 60)
        fairtrial("dataset", "add", "many", "many.jsonl")
        assert run("-d", "many", "--task", agent("good"), "--name", "good").code == 0

        def start(kind: str, *words: str) -> Outcome:
            held = ("--stop-on-regression", "--baseline", "good", "--json")
            return run("-d", "many", "--task", agent(kind), *held, *words)

        return start

    def test_a_confirmed_regression_ends_the_run_with_1(self, held: Command) -> None:
        done = held("regressed")
        assert done.code == ExitCode.NEGATIVE
        assert done.json["design"]["facts"]["regressed"] == ["c0007"]
        assert done.json["n_recorded"] < 60
        assert "c0007" in done.json["status_reason"]

    def test_one_that_passes_when_rerun_is_no_regression(self, held: Command) -> None:
        done = held("unlucky")
        assert done.code == 0
        facts = done.json["design"]["facts"]
        assert (facts["regressed"], facts["failed_once"]) == ([], 1)
        assert done.json["n_recorded"] == 60

    def test_the_baseline_must_be_named_and_there(self, run: Command) -> None:
        assert run("--task", CAT, "--stop-on-regression").code == ExitCode.USAGE
        gone = run("--task", CAT, "--stop-on-regression", "--baseline", "gone")
        assert gone.code == ExitCode.NOT_FOUND
        alone = run("--task", CAT, "--baseline", "gone")
        assert "no effect without --stop-on-regression" in alone.err


DESIGNS = {
    "arms": ARMS,
    "early": (*ARMS, "--stop-early", "--looks", "2"),
    "adaptive": ("--task", agent("flaky"), "--samples", "adaptive"),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_killed_run_ends_like_an_undisturbed_one_when_resumed(
    run: Command, fairtrial: Command, folder: Path, name: str
) -> None:
    whole = run(*DESIGNS[name], "--json").json
    before = recorded()
    words = ("exp", "run", "-d", "numbers", *EXACT, "--seed", "1", "-c", "1", *DESIGNS[name])
    killed = process(*words, "--name", "killed", cwd=folder)
    until(lambda: recorded() >= before + 7 or killed.poll() is not None)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    resumed = fairtrial("exp", "run", "--resume", "killed", "--json")
    assert resumed.code == 0, resumed.err
    ids = (whole["id"], resumed.json["id"])
    assert table(fairtrial, ids[0]) == table(fairtrial, ids[1])
    assert whole["design"] == resumed.json["design"]
    assert whole["arm_rates"] == resumed.json["arm_rates"]
