"""`exp run` with arms, early stopping, adaptive samples and a stop on regressions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command, Outcome, process, write_cases

from fairtrial.app.bench import bench_here
from fairtrial.model.errors import ExitCode

# Stands in for an agent, in this process for speed: which cases it gets wrong is fixed by its kind,
# the trial and the attempt. A file `die` makes it end the whole process at that call, once.
AGENT = """
import os
import sqlite3
import time
from pathlib import Path
from threading import Lock

LOCK = Lock()
NEWEST = "select count(*) from trial where experiment_id = (select max(id) from experiment)"


def until_something_is_on_record():
    path = Path(os.environ["FAIRTRIAL_HOME"]) / "fairtrial.db"
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    while not store.execute(NEWEST).fetchone()[0]:
        time.sleep(0.01)


def die_when_due():
    die = Path("die")
    if die.exists():
        left = int(die.read_text()) - 1
        die.write_text(str(left))
        if left < 0:
            die.unlink()
            until_something_is_on_record()
            os._exit(9)


def agent(n, call, kind):
    with LOCK:
        die_when_due()
    seen = Path("seen")
    wrong = {
        "good": False,
        "bad": n % 2 == 0,
        "flaky": n % 5 == 0 and call.trial % 2 == 0,
        "regressed": n == 7,
        "unlucky": n == 7 and not seen.exists(),
        "learner": call.attempt <= n % 4,
    }[kind]
    if kind == "unlucky" and n == 7:
        seen.touch()
    return "no" if wrong else str(n)
"""


def agent(kind: str) -> str:
    task = {"kind": "python", "function": "design_agents:agent", "arguments": {"kind": kind}}
    return json.dumps(task)


@pytest.fixture
def run(
    fairtrial: Command, folder: Path, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Command]:
    """Run an experiment over 20 numbers with agents that are known."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "design_agents.py").write_text(AGENT)

    def start(*words: str) -> Outcome:
        dataset = () if "-d" in words else ("-d", numbers)
        return fairtrial("exp", "run", *dataset, *EXACT, "--seed", "1", *words)

    yield start
    sys.modules.pop("design_agents", None)


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
        again = fairtrial("exp", "compare", done.json["id"], "--json").json
        for found in (done.json["comparison"], again):
            assert "stopped early" in found["problems"][0]["what"]

    def test_its_picture_holds_each_look_against_its_boundary(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        write_cases(folder / "many.jsonl", 80)
        fairtrial("dataset", "add", "many", "many.jsonl")
        done = run("-d", "many", *ARMS, "--stop-early", "--looks", "4", "--json").json
        facts = done["design"]["facts"]
        # What is left is as if all of it had been looked at: the published boundaries of 4 looks.
        bounds = [look["z_bound"] for look in (*facts["looks"], *facts["looks_left"])]
        assert bounds == pytest.approx([4.33263, 2.96313, 2.35904, 2.01409], abs=1e-5)
        assert [look["cases"] for look in facts["looks_left"]] == [60, 80]
        last = facts["looks"][-1]
        assert last["z"] > last["z_bound"]
        assert last["estimate"] == pytest.approx(facts["estimate"]["naive"])
        assert fairtrial("exp", "show", done["id"], "--plot", "looks.svg").code == 0
        drawn = (folder / "looks.svg").read_text()
        for words in ("B − A, at each look", "look 2, 40 cases", "adjusted for the looks"):
            assert words in drawn
        # A boundary on either side at each of the four looks, and a ring of each open estimate.
        assert drawn.count('r="3" class="edge-second page"') == 8

    def test_other_experiments_have_no_looks_in_their_picture(
        self, run: Command, fairtrial: Command, folder: Path
    ) -> None:
        name = run(*ARMS, "--json").json["id"]
        fairtrial("exp", "show", name, "--plot", "plain.svg")
        assert "look" not in (folder / "plain.svg").read_text()

    def test_a_run_that_took_all_looks_is_compared_without_a_warning(self, run: Command) -> None:
        report = run(*ARMS, "--stop-early", "--looks", "2", "--json").json
        assert report["comparison"]["problems"] == []

    def test_the_text_shows_every_look(self, run: Command) -> None:
        out = run(*ARMS, "--stop-early", "--looks", "2").out
        assert "at most 20 cases × 1 trial" in out
        assert "--trials 3" not in out
        assert "All 2 looks were taken" in out
        assert "Adjusted for its looks, the difference is +0.4" in out
        assert "optimistic" not in out
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
        assert "20 cases × at most 3 trials" in done.out
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

    def test_two_arms_get_no_interval_and_a_comparison_of_them_a_warning(
        self, run: Command, fairtrial: Command
    ) -> None:
        done = run(*ARMS, "--samples", "adaptive", "--json").json
        assert done["comparison"] is None
        assert len(done["design"]["facts"]["arms"]) == 2
        assert [arm["pass_rate"]["estimate"] for arm in done["arm_rates"]] == [0.5, 1.0]
        assert done["pass_rate"]["ci"] is None
        found = fairtrial("exp", "compare", done["id"], "--json").json
        assert "sampled adaptively" in found["problems"][0]["what"]

    @pytest.mark.parametrize("to", ["markdown", "html", "junit"])
    def test_no_document_has_an_interval(self, run: Command, fairtrial: Command, to: str) -> None:
        # Of 20 cases 4 are decided by a third trial, which passes: all of them pass by most.
        name = run("--task", agent("flaky"), "--samples", "adaptive", "--json").json["id"]
        out = fairtrial("exp", "export", name, "--to", to).out
        assert "95 % interval" not in out
        assert "pass_rate_lower" not in out
        assert ("100.0 % passed" if to != "junit" else 'name="pass_rate" value="1"') in out

    def test_the_number_of_trials_is_its_own(self, run: Command) -> None:
        done = run("--task", CAT, "--samples", "adaptive", "--trials", "3")
        assert (done.code, "decides how many" in done.err) == (ExitCode.USAGE, True)


def test_a_run_killed_before_it_was_read_is_read_when_shown(
    run: Command, fairtrial: Command
) -> None:
    whole = run(*ARMS, "--stop-early", "--looks", "2", "--json").json
    bench = bench_here()
    try:
        assert bench.store.settings.delete(f"design:{whole['id']}")
    finally:
        bench.close()
    assert fairtrial("exp", "show", whole["id"], "--json").json["design"] == whole["design"]


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


MATRIX = {"arguments.kind": ["bad", "good", "flaky"]}
DESIGNS = {
    "arms": ARMS,
    "early": (*ARMS, "--stop-early", "--looks", "2"),
    "adaptive": ("--task", agent("flaky"), "--samples", "adaptive"),
    "regression": ("--task", agent("bad"), "--stop-on-regression", "--baseline", "held"),
    "seq": (*ARMS[:2], "--arm", f"cand={agent('learner')}", "--seq", "3"),
    "matrix": ("matrix.json", "--seq", "2", "--trials", "2"),
    "reuse": ("matrix.json", "--reuse", "all"),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_killed_run_ends_like_an_undisturbed_one_when_resumed(
    run: Command, fairtrial: Command, folder: Path, name: str
) -> None:
    spec = {"task": json.loads(agent("good")), "matrix": MATRIX}
    (folder / "matrix.json").write_text(json.dumps(spec))
    if name in ("regression", "reuse"):
        assert run("--task", agent("good"), "--name", "held").code == 0
    words = (*DESIGNS[name], "-c", "2")
    (folder / "die").write_text("11")
    killed = process(
        *("exp", "run", "-d", "numbers", *EXACT, "--seed", "1"), *words, "--name", "k", cwd=folder
    )
    killed.communicate()
    assert killed.returncode == 9
    state = fairtrial("exp", "status", "k", "--json").json["runs"][0]
    assert 0 < state["n_recorded"] < state["n_planned"]
    at_most = "at most" in fairtrial("exp", "status", "k").out
    assert at_most == (name in ("early", "adaptive", "regression"))
    resumed = fairtrial("exp", "run", "--resume", "k", "--json")
    whole = run(*words, "--json")
    assert resumed.code == whole.code, resumed.err
    assert table(fairtrial, resumed.json["id"]) == table(fairtrial, whole.json["id"])
    for part in ("design", "arm_rates", "pass_rate", "status_reason"):
        assert resumed.json[part] == whole.json[part]
    if name == "reuse":  # what the first of them copied, the second can copy, and more
        assert [cell["copied"] for cell in resumed.json["matrix"]["cells"]] == [0, 20, 0]
    else:
        assert resumed.json["matrix"] == whole.json["matrix"]
