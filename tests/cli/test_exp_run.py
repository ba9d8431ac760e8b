"""`exp run`, from the command line to the store and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command, write_cases

HALF = json.dumps(
    {"kind": "command", "command": 'n=$(cat); [ "$n" -lt 10 ] && echo "$n" || echo wrong'}
)


def test_a_run_shows_its_rate_its_interval_and_its_failures(
    fairtrial: Command, numbers: str
) -> None:
    done = fairtrial("exp", "run", "-d", numbers, "--task", HALF, *EXACT)
    assert done.code == 0
    assert "Pass rate  50.0%" in done.out
    assert "95% interval 29.9% to 70.1% (wilson over 20 cases)" in done.out
    assert "Failed: 10 cases" in done.out
    assert "c0010  0/1 passed  exact: expected '10', got 'wrong'" in done.out


def test_json_says_the_same_and_show_repeats_it(fairtrial: Command, numbers: str) -> None:
    ran = fairtrial("exp", "run", "-d", numbers, "--task", HALF, *EXACT, "--name", "x", "--json")
    report = ran.json
    assert (report["passed"], report["failed"], report["undecided"]) == (10, 10, 0)
    assert report["pass_rate"]["ci"]["method"] == "wilson"
    assert report["graders"] == [
        {"grader": "exact", "scored": 20, "total": 20, "mean": 0.5, "passed": 10}
    ]
    shown = fairtrial("exp", "show", "x", "--json").json
    assert {k: v for k, v in shown.items() if k != "finished_at"} == {
        k: v for k, v in report.items() if k != "finished_at"
    }
    by_prefix = fairtrial("exp", "show", report["id"][:14], "--json").json
    assert by_prefix["id"] == report["id"]


def test_trials_make_flaky_cases_visible(fairtrial: Command, numbers: str) -> None:
    task = json.dumps(
        {"kind": "command", "command": 'n=$(cat); [ "$FAIRTRIAL_TRIAL" = 2 ] || echo "$n"'}
    )
    done = fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT, "--trials", "3")
    assert "Flaky, passed in some trials only: 20 cases" in done.out
    assert "c0000 2/3" in done.out


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize("suffix", ["json", "yaml", "toml"])
def test_a_spec_file_says_all_and_options_override_it(
    fairtrial: Command, folder: Path, suffix: str
) -> None:
    texts = {
        "json": json.dumps(
            {
                "dataset": "numbers",
                "task": json.loads(CAT),
                "graders": ["exact"],
                "trials": 2,
                "cases": ["c000*"],
            }
        ),
        "yaml": "dataset: numbers\ntask: {kind: command, command: [cat]}\n"
        "graders: [exact]\ntrials: 2\ncases: ['c000*']\n",
        "toml": "dataset = 'numbers'\ngraders = ['exact']\ntrials = 2\ncases = ['c000*']\n"
        "[task]\nkind = 'command'\ncommand = ['cat']\n",
    }
    (folder / f"spec.{suffix}").write_text(texts[suffix], encoding="utf-8")
    report = fairtrial("exp", "run", f"spec.{suffix}", "--json").json
    assert (report["n_cases"], report["trials"], report["passed"]) == (10, 2, 20)
    one = fairtrial("exp", "run", f"spec.{suffix}", "--trials", "1", "--first-n", "3", "--json")
    assert (one.json["n_cases"], one.json["trials"]) == (3, 1)


def test_graders_add_to_the_spec_unless_they_replace_it(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    spec = {"dataset": numbers, "task": json.loads(CAT), "graders": ["exact"]}
    (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    number = '{"kind": "number", "absolute": 0.5}'
    added = fairtrial("exp", "run", "spec.json", "-g", number, "--json").json
    assert [grader["grader"] for grader in added["graders"]] == ["exact", "number"]
    replaced = fairtrial("exp", "run", "spec.json", "-g", number, "--replace-graders", "--json")
    assert [grader["grader"] for grader in replaced.json["graders"]] == ["number"]


@pytest.mark.usefixtures("numbers")
def test_a_task_file_and_relative_paths_start_at_the_spec(fairtrial: Command, folder: Path) -> None:
    deep = folder / "evals"
    deep.mkdir()
    (deep / "task.json").write_text('{"kind": "command", "command": ["sh", "agent.sh"]}')
    (deep / "agent.sh").write_text("cat\n")
    (deep / "spec.yaml").write_text("dataset: numbers\ntask: task.json\ngraders: [exact]\n")
    assert fairtrial("exp", "run", "evals/spec.yaml", "--json").json["passed"] == 20


def test_selection_narrows_and_failing_picks_the_failed(fairtrial: Command, numbers: str) -> None:
    fairtrial("exp", "run", "-d", numbers, "--task", HALF, *EXACT, "--name", "half")
    again = fairtrial(
        "exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--failing", "half", "--json"
    ).json
    assert (again["n_cases"], again["passed"]) == (10, 10)
    run = ("exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--json")
    assert fairtrial(*run, "--case", "c001?", "--case", "c0002").json["n_cases"] == 11
    assert fairtrial(*run, "--sample", "0.25").json["n_cases"] == 5
    assert fairtrial(*run, "--sample", "7", "--first-n", "2").json["n_cases"] == 2


def test_errors_from_picks_the_errored(fairtrial: Command, numbers: str) -> None:
    task = json.dumps(
        {"kind": "command", "command": 'n=$(cat); [ "$n" -lt 3 ] && exit 7; echo "$n"'}
    )
    first = fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT, "--name", "e")
    assert "Task errors: 3 trials" in first.out
    assert "exit status 7" in first.out
    again = fairtrial(
        "exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--errors-from", "e", "--json"
    )
    assert again.json["n_cases"] == 3


def test_dry_run_prints_the_plan_and_runs_nothing(fairtrial: Command, numbers: str) -> None:
    run = ("exp", "run", "-d", numbers, "--task", CAT, *EXACT, "--trials", "3", "--seed", "11")
    plan = fairtrial(*run, "--dry-run")
    assert plan.code == 0
    assert "60 planned, 60 to run" in plan.out
    assert "seed             11" in plan.out
    as_json = fairtrial(*run, "--dry-run", "--json").json
    assert (as_json["n_planned"], as_json["n_kept"], as_json["seed"]) == (60, 0, 11)
    assert fairtrial("exp", "list").out.startswith("No experiment yet")


def test_retry_errors_runs_only_the_task_errors_again(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "broken").touch()
    task = json.dumps(
        {
            "kind": "command",
            "command": '[ -e broken ] && [ "$FAIRTRIAL_CASE_ID" = c0003 ] && exit 1; cat',
        }
    )
    first = fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT, "--json").json
    assert first["causes"] == {"task": 1}
    (folder / "broken").unlink()
    plain = fairtrial("exp", "run", "--resume", first["id"], "--json")
    assert (plain.code, plain.json["causes"]) == (0, {"task": 1})
    again = fairtrial("exp", "run", "--resume", first["id"], "--retry-errors", "--json").json
    assert (again["passed"], again["causes"], again["n_recorded"]) == (20, {}, 20)


def test_the_task_never_sees_what_is_expected(fairtrial: Command, folder: Path) -> None:
    case = {"id": "c", "input": {"q": 1}, "expected": "the-secret-answer"}
    (folder / "c.json").write_text(json.dumps([case]))
    fairtrial("dataset", "add", "secret", "c.json")
    for envelope in (False, True):
        spy = "env > seen; cat >> seen; echo '{\"output\": 1}'"
        task = json.dumps({"kind": "command", "command": spy, "envelope": envelope})
        fairtrial("exp", "run", "-d", "secret", "--task", task, *EXACT)
        assert "the-secret-answer" not in (folder / "seen").read_text()


def test_an_old_version_is_pinned(fairtrial: Command, folder: Path, numbers: str) -> None:
    write_cases(folder / "cases.jsonl", 5)
    fairtrial("dataset", "add", numbers, "cases.jsonl")
    run = ("exp", "run", "--task", CAT, *EXACT, "--json")
    assert fairtrial(*run, "-d", "numbers").json["dataset"] == "numbers@2"
    assert fairtrial(*run, "-d", "numbers@1").json["n_cases"] == 20


def test_what_a_python_task_prints_stays_out_of_the_report(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "chatty_task.py").write_text(
        "def answer(x):\n    print('noise')\n    return str(x)\n"
    )
    task = json.dumps({"kind": "python", "function": "chatty_task:answer"})
    done = fairtrial("exp", "run", "-d", numbers, "--task", task, *EXACT, "--json")
    assert done.json["passed"] == 20
    assert "noise" in done.err


def test_a_command_can_report_infrastructure_and_is_tried_again(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    script = (
        '[ -e tried ] && cat > /dev/null && echo \'{"output": "0"}\' && exit; touch tried; '
        'echo \'{"infra": "rate_limit", "error": "429", "retry_after_s": 0.01}\'; exit 1'
    )
    task = json.dumps({"kind": "command", "command": script, "envelope": True})
    words = ("exp", "run", "-d", numbers, "--task", task, *EXACT, "--first-n", "1", "--json")
    report = fairtrial(*words).json
    assert (report["passed"], report["undecided"]) == (1, 0)
    (folder / "tried").unlink()
    lost = fairtrial(*words, "--retries", "0")
    assert (lost.code, lost.json["causes"]) == (4, {"infra": 1})


def test_a_grader_that_is_not_there_is_refused_before_anything_runs(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    task = json.dumps({"kind": "command", "command": "touch ran; cat"})
    grader = json.dumps({"kind": "command", "command": "nosuch_prog --strict", "name": "strict"})
    done = fairtrial("exp", "run", "-d", numbers, "--task", task, "-g", grader)
    assert done.code == 64
    assert "the shell finds no program 'nosuch_prog'" in done.err
    assert "grader strict" in done.err
    assert not (folder / "ran").exists()
    assert fairtrial("exp", "list", "--json").json["experiments"] == []


def test_a_resume_does_not_mix_two_versions_of_a_graders_file(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "grade.sh").write_text("exit 0\n")
    grader = json.dumps({"kind": "command", "command": ["sh", "grade.sh"], "name": "strict"})
    task = json.dumps({"kind": "http", "url": "http://127.0.0.1:1"})
    words = ("-d", numbers, "--task", task, "-g", grader, "--retries", "0")
    fairtrial("exp", "run", *words, "--stop-after-infra", "2", "--name", "half")
    (folder / "grade.sh").write_text("exit 1\n")
    for resume in (("--resume", "half"), (*words, "--resume")):
        refused = fairtrial("exp", "run", *resume)
        assert refused.code == 64
        assert "the file of grader strict was edited since exp_" in refused.err
        assert "fairtrial exp regrade exp_" in refused.err
    (folder / "grade.sh").write_text("exit 0\n")
    assert fairtrial("exp", "run", "--resume", "half", "--stop-after-infra", "0").code == 4
