"""How reports are worded and laid out."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from fairtrial.model.errors import ExitCode

CAT = '{"kind": "command", "command": "cat"}'


@pytest.fixture
def numbers(fairtrial: Command, folder: Path) -> None:
    (folder / "n.jsonl").write_text('{"id": "a", "input": 1, "expected": "1"}\n')
    fairtrial("dataset", "add", "n", "n.jsonl")


@pytest.mark.usefixtures("numbers")
def test_an_id_in_a_list_can_be_copied_from_a_narrow_terminal(
    fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    made = fairtrial("exp", "run", "-d", "n", "--task", CAT, "-g", "exact", "--json").json
    out = fairtrial("exp", "list").out
    assert made["id"] in out
    assert "Cost" not in out  # no experiment has one


@pytest.mark.usefixtures("numbers")
def test_a_plan_says_none_for_a_limit_that_is_not_set(fairtrial: Command) -> None:
    out = fairtrial("exp", "run", "-d", "n", "--task", CAT, "-g", "exact", "--dry-run").out
    assert "trial_timeout none" in out


@pytest.mark.usefixtures("numbers")
def test_a_key_means_the_same_in_every_report(fairtrial: Command) -> None:
    run = fairtrial("exp", "run", "-d", "n", "--task", CAT, "-g", "exact", "--json").json
    (listed,) = fairtrial("exp", "list", "--json").json["experiments"]
    shown = fairtrial("exp", "show", "n", "--json").json
    # Whether it still runs, and in a word what `exp show` tells of its gate.
    assert listed.keys() - shown.keys() == {"alive", "release_gate"}
    for key in listed.keys() & shown.keys():
        assert shown[key] == listed[key] == run[key]
    assert (shown["n_flaky_rows"], shown["flaky_rows"]) == (0, [])


@pytest.mark.usefixtures("numbers")
def test_every_moment_is_written_alike(fairtrial: Command) -> None:
    fairtrial("exp", "run", "-d", "n", "--task", CAT, "-g", "exact")
    case = fairtrial("exp", "show", "n", "--case", "a", "--json").json
    version = fairtrial("dataset", "show", "n", "--json").json
    shown = fairtrial("exp", "show", "n", "--json").json
    moments = [
        case["trials"][0]["started_at"],
        version["created_at"],
        shown["created_at"],
        shown["finished_at"],
    ]
    for moment in moments:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", moment)


@pytest.mark.usefixtures("numbers")
def test_a_run_without_a_quality_verdict_says_so(fairtrial: Command) -> None:
    broken = '{"kind": "command", "command": "exit 3"}'
    done = fairtrial("exp", "run", "-d", "n", "--task", broken, "-g", "exact")
    assert done.code == ExitCode.NO_VERDICT
    assert "no quality verdict: no grader judged any output" in done.out
    assert "--trials 3" not in done.out  # more of the same says nothing either


@pytest.mark.usefixtures("numbers")
def test_what_to_do_next_can_be_typed_as_it_stands(fairtrial: Command, folder: Path) -> None:
    (folder / "odd.jsonl").write_text('{"id": "it\'s $HOME", "input": 1, "expected": "2"}\n')
    fairtrial("dataset", "add", "odd", "odd.jsonl")
    out = fairtrial("exp", "run", "-d", "odd", "--task", CAT, "-g", "exact").out
    commands = [line.split(":  fairtrial ", 1)[1] for line in out.splitlines() if ":  fa" in line]
    assert len(commands) == 3
    shown, page = (fairtrial(*shlex.split(command)) for command in commands[:2])
    assert "it's $HOME  trial 1: failed" in shown.out
    assert page.out == f"wrote {folder / 'report.html'}\n"


def test_trials_that_failed_for_one_reason_are_told_once_and_whole(
    fairtrial: Command, folder: Path
) -> None:
    (folder / "n.jsonl").write_text("".join(f'{{"id": "c{n}", "input": {n}}}\n' for n in range(4)))
    fairtrial("dataset", "add", "n", "n.jsonl")
    reason = "no such thing " * 8
    broken = f'{{"kind": "command", "command": "echo {reason}>&2; exit 3"}}'
    out = fairtrial("exp", "run", "-d", "n", "--task", broken, "-g", "exact", "--trials", "2").out
    told = out.split("Task errors: 8 trials")[1].splitlines()[1]
    assert told == f"  c0 trial 1 and 7 more  exit status 3: {reason.strip()}"


@pytest.mark.parametrize(
    ("expected", "output", "off"),
    [("1493.02", "20.34", "1,470"), ("80.71", "89.68", "8.97"), ("1", "1.00005", "5e-05")],
)
def test_a_distance_is_written_out(
    fairtrial: Command, folder: Path, expected: str, output: str, off: str
) -> None:
    case = f'{{"id": "a", "input": {output}, "expected": {expected}}}'
    (folder / "n.jsonl").write_text(case + "\n")
    fairtrial("dataset", "add", "n", "n.jsonl")
    out = fairtrial("exp", "run", "-d", "n", "--task", CAT, "-g", "number").out
    assert f"(off by {off})" in out
