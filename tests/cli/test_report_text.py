"""How reports are worded and laid out."""

from __future__ import annotations

import re
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
    for key in listed:
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
