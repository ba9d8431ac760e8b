"""`exp regrade`: stored outputs, graded again."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command, process, write_cases

from fairtrial.model.errors import ExitCode

LOOSE = '{"kind":"contains","values":"1","name":"exact"}'
COIN = """
import random, sys
print(1 if random.random() < 0.5 else 0)
"""


@pytest.fixture
def run(fairtrial: Command, numbers: str, folder: Path) -> Command:
    """An experiment `base` of 20 cases: 19 outputs, of which one is wrong, and a task error."""
    script = 'n=$(cat); [ "$n" = 3 ] && exit 9; [ "$n" = 4 ] && echo 40 || echo "$n"'
    task = json.dumps({"kind": "command", "command": f"echo x >> {folder}/ran; {script}"})
    words = ("-d", numbers, "--task", task, "--name", "base", "--seed", "1")
    assert fairtrial("exp", "run", *words, *EXACT).code == 0
    return fairtrial


def test_what_flips_is_told_with_both_reasons(run: Command, folder: Path) -> None:
    ran = (folder / "ran").read_text()
    done = run("exp", "regrade", "base", "-g", LOOSE, "--name", "loose")
    assert done.code == 0, done.err
    assert "19 outputs of base" in done.out
    assert "no task run; 1 trial without an output kept the verdict" in done.out
    assert "Pass rate  90.0% → 55.0%" in done.out
    assert "c0000 trial 1  passed → failed" in done.out
    assert "now: exact: " in done.out
    assert (folder / "ran").read_text() == ran


def test_the_json_lists_every_flip_and_the_new_experiment(run: Command) -> None:
    report = run("exp", "regrade", "base", "-g", "not-exact.json", "--json")
    assert report.code == ExitCode.NOT_FOUND
    wrong = '{"kind":"exact","not":true}'
    report = run("exp", "regrade", "base", "-g", wrong, "--json").json
    assert report["schema"] == "fairtrial.regrade/1"
    assert (report["n_graded"], report["n_kept"], report["n_flips"]) == (19, 1, 19)
    flip = next(flip for flip in report["flips"] if flip["case_id"] == "c0004")
    assert (flip["before"], flip["after"], flip["reason_after"]) == ("failed", "passed", None)
    assert "expected '4'" in flip["reason_before"]
    new, origin = report["experiment"], run("exp", "show", report["origin"], "--json").json
    assert new["spec"]["regrade_of"] == origin["id"]
    assert new["id"] != origin["id"]
    assert (new["seed"], new["duration_s"]) == (origin["seed"], origin["duration_s"])
    assert new["causes"] == {"task": 1}


def test_each_trial_keeps_all_but_its_scores(run: Command) -> None:
    def trials(ref: str, case: str) -> list[Any]:
        shown: list[Any] = run("exp", "show", ref, "--case", case, "--json").json["trials"]
        return shown

    run("exp", "regrade", "base", "-g", LOOSE, "--name", "loose")
    judged = ("verdict", "cause", "reason", "score", "scores")
    for case in ("c0003", "c0007"):
        (before,), (after,) = trials("base", case), trials("loose", case)
        rest = {name: value for name, value in before.items() if name not in judged}
        assert rest == {name: value for name, value in after.items() if name not in judged}


def test_a_grader_is_added_or_replaced_by_name_and_a_spec_brings_its_own(
    run: Command, folder: Path
) -> None:
    def graders(*words: str) -> list[str]:
        report = run("exp", "regrade", "base", *words, "--name", "x", "--json").json
        return [f"{g['kind']}:{g['name']}" for g in report["experiment"]["spec"]["graders"]]

    spec = {"dataset": "elsewhere", "task": json.loads(CAT), "graders": ["number"], "trials": 9}
    (folder / "s.json").write_text(json.dumps(spec))
    assert graders() == ["exact:exact"]
    assert graders("-g", "number") == ["exact:exact", "number:number"]
    assert graders("-g", LOOSE) == ["contains:exact"]
    assert graders("-g", "number", "--replace-graders") == ["number:number"]
    assert graders("s.json") == ["number:number"]
    assert graders("s.json", "-g", "exact") == ["number:number", "exact:exact"]
    assert graders("s.json", "-g", "exact", "--replace-graders") == ["exact:exact"]


def test_a_typing_error_in_a_spec_is_told_here_too(run: Command, folder: Path) -> None:
    (folder / "s.json").write_text('{"grader": ["exact"]}')
    done = run("exp", "regrade", "base", "s.json")
    assert done.code == ExitCode.USAGE
    assert "did you mean 'graders'?" in done.err


def test_graders_that_cannot_read_the_stored_data_are_listed(run: Command) -> None:
    broken = '{"kind":"command","command":"exit 3","name":"broken"}'
    done = run("exp", "regrade", "base", "-g", broken)
    assert "Could not grade the stored outputs\n  broken  19 of 19: " in done.out
    report = run("exp", "regrade", "base", "-g", broken, "--json").json
    assert report["unable"][0]["missing"] == 19
    # The one that failed exact stays failed; the others cannot be decided without the grader.
    assert report["experiment"]["undecided"] == 18


def test_several_rounds_measure_graders_alone(run: Command, folder: Path) -> None:
    (folder / "coin.py").write_text(COIN)
    coin = json.dumps({"kind": "command", "command": ["python3", "coin.py"], "name": "coin"})
    noise = run("exp", "regrade", "base", "-g", coin, "--k", "3", "--json").json["noise"]
    assert [entry["grader"] for entry in noise] == [None, "exact", "coin"]
    verdict, exact, coined = noise
    assert exact["fixed"]
    assert 0 < coined["flip_rate"] < 1
    assert coined["outputs"] == 19
    assert coined["spread"] == pytest.approx((coined["flip_rate"] / 2) ** 0.5)
    assert 0 < verdict["flip_rate"] < 1
    shown = run("exp", "show", "base", "--json").json["grader_noise"]
    assert shown == {"k": 3, "noise": noise}
    assert "two rounds disagree on" in run("exp", "show", "base").out
    text = run("exp", "regrade", "base", "-g", coin, "--k", "2").out
    assert "two rounds disagree on" in text


def test_graders_that_cannot_differ_have_no_noise(run: Command) -> None:
    done = run("exp", "regrade", "base", "--k", "5")
    assert "No verdict flipped" in done.out
    assert "exact  none: it always says the same of the same output" in done.out


def test_a_regrade_cannot_be_resumed_as_a_run(run: Command) -> None:
    run("exp", "regrade", "base", "--name", "again")
    done = run("exp", "run", "--resume", "again")
    assert done.code == ExitCode.USAGE
    assert "fairtrial exp regrade exp_" in done.err


def test_relative_paths_of_graders_start_where_they_were_given(run: Command, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "yes.sh").write_text("#!/bin/sh\necho 1\n")
    (folder / "sub" / "yes.sh").chmod(0o755)
    yes = {"kind": "command", "command": ["./yes.sh"], "name": "yes"}
    (folder / "sub" / "s.json").write_text(json.dumps({"graders": [yes]}))
    first = run("exp", "regrade", "base", "sub/s.json", "--name", "yes", "--json").json
    assert first["experiment"]["passed"] == 19
    assert first["experiment"]["spec"]["grader_dirs"] == {"yes": str(folder / "sub")}
    again = run("exp", "regrade", "yes", "-g", "exact", "--json").json
    assert again["n_flips"] == 1
    assert again["unable"] == []


def test_a_part_of_an_experiment_stays_a_part(fairtrial: Command, numbers: str) -> None:
    down = '{"kind":"http","url":"http://127.0.0.1:1"}'
    words = ("-d", numbers, "--task", down, "--retries", "0", "--stop-after-infra", "2", "-c", "1")
    assert fairtrial("exp", "run", *words, *EXACT, "--name", "down").code == ExitCode.NO_VERDICT
    done = fairtrial("exp", "regrade", "down", "-g", LOOSE, "--json")
    assert done.code == ExitCode.NO_VERDICT
    assert done.json["experiment"]["status"] == "stopped"
    assert "its original is stopped" in done.json["experiment"]["status_reason"]


def test_ctrl_c_leaves_an_interrupted_regrade_that_can_be_run_again(
    fairtrial: Command, folder: Path
) -> None:
    write_cases(folder / "many.jsonl", 200)
    fairtrial("dataset", "add", "many", "many.jsonl")
    fairtrial("exp", "run", "-d", "many", "--task", CAT, *EXACT, "--name", "base")
    slow = '{"kind":"command","command":"sleep 0.2; echo 1","name":"slow"}'
    running = process("exp", "regrade", "base", "-g", slow, "--name", "slow")
    while fairtrial("exp", "show", "slow", "--json").json.get("n_recorded", 0) < 4:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == ExitCode.INTERRUPTED
    assert "interrupted: Ctrl-C" in out
    status = fairtrial("exp", "status", "--json").json["runs"]
    assert status[0]["resume"].startswith("fairtrial exp regrade exp_")
    newest = fairtrial("exp", "run", "--resume")
    assert newest.code == ExitCode.NOT_FOUND


def test_measurements_of_commands_are_not_graded(fairtrial: Command) -> None:
    fairtrial("exp", "metrics", "--arm", "a=true", "--arm", "b=true", "--pairs", "1", "--name", "m")
    done = fairtrial("exp", "regrade", "m", *EXACT)
    assert done.code == ExitCode.USAGE
    assert "m measures commands and has no verdicts to grade again" in done.err
