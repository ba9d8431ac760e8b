"""`exp gate`: ship or hold, by rules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CAT, EXACT, Command

from fairtrial.model.errors import ExitCode

HALF = json.dumps(
    {"kind": "command", "command": 'n=$(cat); [ "$n" -lt 10 ] && echo "$n" || echo 0'}
)
LENIENT: list[dict[str, Any]] = [
    {"pass_rate": {"at_least": 0.5}},
    {"every_row": {"passed": {"at_least": 0}}},
]
STRICT: list[dict[str, Any]] = [*LENIENT, {"grader": "exact", "pass_rate": {"at_least": 0.9}}]


@pytest.fixture
def two(fairtrial: Command, numbers: str, folder: Path) -> Command:
    """Experiments `all`, which passes everything, and `half`; files with rules."""
    for name, task in (("all", CAT), ("half", HALF)):
        words = ("-d", numbers, "--task", task, "--name", name)
        assert fairtrial("exp", "run", *words, *EXACT).code == 0
    (folder / "lenient.json").write_text(json.dumps(LENIENT))
    (folder / "strict.json").write_text(json.dumps({"dataset": "x", "gate": STRICT}))
    return fairtrial


def test_kept_rules_ship_and_a_broken_one_holds(two: Command) -> None:
    ships = two("exp", "gate", "half", "--rules", "lenient.json")
    assert ships.code == 0, ships.err
    assert "✓ pass rate: at least 50%" in ships.out
    assert "Ship: all 2 rules are kept" in ships.out
    holds = two("exp", "gate", "half", "--rules", "strict.json")
    assert holds.code == ExitCode.NEGATIVE
    assert "✗ pass rate of exact: at least 90%\n      50% over 20 rows\n" in holds.out
    assert "c0010, c0011, c0012, c0013, c0014 and 5 more" in holds.out
    report = two("exp", "gate", "half", "--rules", "strict.json", "--json").json
    assert (report["decision"], report["exit_code"]) == ("hold", 1)
    assert [rule["passed"] for rule in report["rules"]] == [True, True, False]
    assert report["rules"][2]["n_rows"] == 10
    assert report["rules"][2]["rows"][0] == {"case_id": "c0010", "condition": "default"}


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_decision_stands_when_its_reader_has_left(more: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = ("exp", "gate", "half", "--rules", "strict.json", *more)
    command = [sys.executable, "-m", "fairtrial", *words]
    assert subprocess.run(command, stdout=writer, check=False).returncode == ExitCode.NEGATIVE
    os.close(writer)


def test_the_projects_rules_hold_where_a_spec_has_none(two: Command) -> None:
    none = two("exp", "gate", "half")
    assert none.code == ExitCode.USAGE
    assert "half has no rules, and neither has the project" in none.err
    assert "pass rate of exact: at least 90%" in two("exp", "gate", "--set", "strict.json").out
    held = two("exp", "gate", "half", "--json").json
    assert (held["rules_of"], held["decision"]) == ("project", "hold")
    assert "has no rules" in two("exp", "gate", "--clear").out
    assert two("exp", "gate", "half").code == ExitCode.USAGE


def test_deltas_look_at_the_baseline(two: Command, folder: Path) -> None:
    rule = [{"delta": {"pass_rate": {"at_least": -0.02}}}]
    (folder / "delta.json").write_text(json.dumps(rule))
    first = two("exp", "gate", "all", "--rules", "delta.json", "--json")
    assert first.code == ExitCode.TOO_FEW
    assert first.json["decision"] == "too_few"
    assert first.json["baseline"]["source"] == "none"
    given = two("exp", "gate", "half", "--rules", "delta.json", "--baseline", "all")
    assert given.code == ExitCode.NEGATIVE
    assert "-50 points over 20 rows" in given.out
    assert "against all (exp_" in given.out
    itself = two("exp", "gate", "half", "--rules", "delta.json", "--baseline", "half")
    assert itself.code == ExitCode.USAGE


def spec_of(numbers: str, task: str, rules: list[dict[str, Any]]) -> str:
    spec = {"dataset": numbers, "task": json.loads(task), "graders": ["exact"], "gate": rules}
    return json.dumps(spec)


def test_a_run_whose_spec_has_rules_ends_with_them(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "spec.json").write_text(spec_of(numbers, HALF, STRICT))
    run = fairtrial("exp", "run", "spec.json", "--name", "half")
    assert run.code == ExitCode.NEGATIVE
    assert "Hold: pass rate of exact: at least 90%: 50% over 20 rows" in run.out
    again = fairtrial("exp", "gate", "half", "--json").json
    assert (again["rules_of"], again["decision"]) == ("spec", "hold")
    shown = fairtrial("exp", "show", "half", "--json")
    assert (shown.code, shown.json["gate"]["decision"]) == (1, "hold")
    (folder / "spec.json").write_text(spec_of(numbers, CAT, STRICT))
    assert fairtrial("exp", "run", "spec.json").code == 0


def test_a_wrong_rule_is_told_before_anything_runs(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    (folder / "spec.json").write_text(spec_of(numbers, CAT, [{"grader": "exat", "mean": {}}]))
    run = fairtrial("exp", "run", "spec.json")
    assert run.code == ExitCode.USAGE
    assert "gate[0].mean: a bound needs" in run.err
    assert fairtrial("exp", "list", "--json").json["experiments"] == []


def test_platform_failures_leave_the_count_of_undecided_rows(
    fairtrial: Command, numbers: str, folder: Path
) -> None:
    rules = [{"undecided_rows": {"at_most": 0}}]
    (folder / "rules.json").write_text(json.dumps(rules))
    broken = '{"kind":"command","command":"exit 3"}'
    words = ("-d", numbers, "--task", CAT, "--first-n", "3", "--name", "judge")
    fairtrial("exp", "run", *words, "-g", broken)
    judge = fairtrial("exp", "gate", "judge", "--rules", "rules.json", "--json").json
    assert (judge["decision"], judge["rules"][0]["actual"]) == ("no_verdict", 3)
    down = '{"kind":"http","url":"http://127.0.0.1:1"}'
    words = ("-d", numbers, "--task", down, "--retries", "0", "--stop-after-infra", "0")
    fairtrial("exp", "run", *words, *EXACT, "--first-n", "2", "--name", "down")
    down_report = fairtrial("exp", "gate", "down", "--rules", "rules.json", "--json").json
    assert down_report["rules"][0]["actual"] == 0
    assert down_report["exit_code"] == ExitCode.NO_VERDICT


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("--rules", "none.json"), ExitCode.NOT_FOUND, "no such file"),
        (("--rules", "cases.jsonl"), ExitCode.USAGE, "unknown kind of file"),
        (("--rules", "empty.json"), ExitCode.USAGE, "holds no rules"),
        (("--rules", "lenient.json", "--arm", "b"), ExitCode.NOT_FOUND, "has no arm b"),
        (("--set", "lenient.json", "--clear"), ExitCode.USAGE, "do not go together"),
    ],
)
def test_mistakes_are_told(
    two: Command, folder: Path, words: tuple[str, ...], code: int, what: str
) -> None:
    (folder / "empty.json").write_text("{}")
    done = two("exp", "gate", "half", *words)
    assert done.code == code
    assert what in done.err


def test_the_run_that_chose_the_cases_shows_no_gain(two: Command, folder: Path) -> None:
    words = ("--task", CAT, *EXACT, "--name", "again")
    chosen = two("exp", "run", "-d", "numbers", *words, "--failing", "half")
    assert chosen.code == ExitCode.OK, chosen
    (folder / "delta.json").write_text(json.dumps([{"delta": {"pass_rate": {"at_least": 0}}}]))
    done = two("exp", "gate", "again", "--rules", "delta.json", "--baseline", "half")
    assert done.code == ExitCode.TOO_FEW
    assert "again ran only the cases that the baseline failed" in done.out
