"""`exp run` with a matrix spec: cells against a baseline, `--plan`, `--cell`, `--reuse`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from fairtrial.model.errors import ExitCode

# Right for the first `right` of 20 cases; every call leaves a line, so that a copy can be told.
AGENT = """
from pathlib import Path

from fairtrial.model.task import TaskResult


def agent(n, right=10, style="plain"):
    with Path("ran.txt").open("a") as file:
        file.write(f"{right} {style}\\n")
    return TaskResult(str(n) if n < right else "wrong", cost_usd=0.25)
"""
Write = Callable[..., str]


@pytest.fixture
def write(folder: Path, numbers: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write a matrix spec and return its name."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "agents.py").write_text(AGENT)

    def spec(file: str = "spec.json", **fields: Any) -> str:
        task = {"kind": "python", "function": "agents:agent", "arguments": {"right": 10}}
        whole = {"dataset": numbers, "task": task, "graders": ["exact"], "seed": 1, **fields}
        (folder / file).write_text(json.dumps(whole))
        return file

    yield spec
    sys.modules.pop("agents", None)


def ran(folder: Path) -> int:
    path = folder / "ran.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


RIGHTS = {"arguments.right": [10, 4, 18]}


class TestCells:
    def test_each_cell_is_compared_with_the_baseline(
        self, write: Write, fairtrial: Command
    ) -> None:
        done = fairtrial("exp", "run", write(matrix=RIGHTS), "--json")
        assert done.code == 0, done.err
        report = done.json
        assert report["arms"] == ["right=10", "right=4", "right=18"]
        cells = report["matrix"]["cells"]
        assert [cell["pass_rate"]["estimate"] for cell in cells] == [0.5, 0.2, 0.9]
        assert cells[0]["delta"] is None
        assert [round(cell["delta"]["estimate"], 3) for cell in cells[1:]] == [-0.3, 0.4]
        assert all(cell["delta"]["ci"]["level"] == 0.975 for cell in cells[1:])
        assert [cell["cost_usd"] for cell in cells] == [5.0, 5.0, 5.0]
        assert cells[2]["delta"]["verdict"] == "better"
        assert cells[2]["delta"]["p_adjusted"] > cells[2]["delta"]["p"]["value"]
        assert report["matrix"]["best"] == "right=18"
        assert report["comparison"] is None

    def test_adaptive_samples_give_shares_and_compare_nothing(
        self, write: Write, fairtrial: Command
    ) -> None:
        spec = write(matrix=RIGHTS, name="m")
        report = fairtrial("exp", "run", spec, "--samples", "adaptive", "--json").json
        assert report["n_recorded"] == 3 * 2 * 20
        cells = report["matrix"]["cells"]
        assert [cell["pass_rate"]["estimate"] for cell in cells] == [0.5, 0.2, 0.9]
        assert [cell["pass_rate"]["ci"] for cell in cells] == [None] * 3
        assert [cell["delta"] for cell in cells] == [None] * 3
        assert report["matrix"]["best"] == "right=18"
        assert "compare no cells" in report["matrix"]["note"]
        assert set(report["design"]["facts"]["arms"]) == set(report["arms"])
        out = fairtrial("exp", "show", "m").out
        table = out[out.index("Cells against") :].splitlines()
        assert table[1].split() == ["Cell", "Passed", "Cost"]
        assert "no interval, and no comparison" in table[5]
        assert "exp compare" not in out

    def test_the_text_is_a_table_that_warns_of_the_best(
        self, write: Write, fairtrial: Command
    ) -> None:
        out = fairtrial("exp", "run", write(matrix=RIGHTS, name="m")).out
        assert "Cells against right=10" in out
        assert "chosen by these very numbers" in out
        assert "--trials 3" not in out
        assert "Cells against right=10" in fairtrial("exp", "show", "m").out

    def test_cells_of_one_case_run_side_by_side(
        self, write: Write, fairtrial: Command, folder: Path
    ) -> None:
        fairtrial("exp", "run", write(matrix=RIGHTS), "-c", "1")
        lines = (folder / "ran.txt").read_text().split("\n")[:-1]
        for start in range(0, 60, 3):
            assert len(set(lines[start : start + 3])) == 3

    def test_fields_are_crossed_and_variants_stand_beside(
        self, write: Write, fairtrial: Command
    ) -> None:
        spec = write(
            matrix={"arguments.right": [10, 12], "arguments.style": ["plain", "rich"]},
            variants=[{"name": "bold", "arguments.style": "bold"}],
            baseline_cell="bold",
        )
        report = fairtrial("exp", "run", spec, "--json").json
        assert report["arms"] == [
            "bold",
            "right=10,style=plain",
            "right=10,style=rich",
            "right=12,style=plain",
            "right=12,style=rich",
        ]
        assert report["matrix"]["cells"][0]["changes"] == {"arguments.style": "bold"}

    def test_one_cell_alone_runs_with_the_baseline(self, write: Write, fairtrial: Command) -> None:
        spec = write(matrix=RIGHTS)
        report = fairtrial("exp", "run", spec, "--cell", "right=18", "--json").json
        assert report["arms"] == ["right=10", "right=18"]
        assert report["matrix"]["cells"][1]["delta"]["ci"]["level"] == 0.95

    def test_cells_are_arms_for_a_comparison(self, write: Write, fairtrial: Command) -> None:
        spec = write(
            variants=[
                {"name": "a:b", "arguments.right": 18},
                {"name": "c", "arguments.right": 4},
            ],
            name="m",
        )
        report = fairtrial("exp", "run", spec, "--json").json
        assert report["arms"][0] == "base"
        found = fairtrial("exp", "compare", f"{report['id']}:a:b", "--json")
        assert found.code == 0, found.err
        assert found.json["delta"]["estimate"] == pytest.approx(0.4)

    def test_cells_have_seq_each(self, write: Write, fairtrial: Command) -> None:
        report = fairtrial("exp", "run", write(matrix=RIGHTS, seq=2), "--json").json
        assert list(report["design"]["facts"]["arms"]) == report["arms"]
        assert report["matrix"]["best"] == "right=18"

    @pytest.mark.parametrize(
        ("fields", "words", "message"),
        [
            ({"matrix": {"arguments.right": []}}, (), "has no value"),
            ({"matrix": {"kind.x": [1]}}, (), "leads into 'kind'"),
            ({"matrix": RIGHTS, "baseline_cell": "x"}, (), "cell 'x'"),
            ({"matrix": RIGHTS}, ("--cell", "right=9"), "cell 'right=9'"),
            ({"matrix": RIGHTS}, ("--cell", "right=10"), "only the baseline cell"),
            ({"matrix": RIGHTS}, ("--reuse", "right=9"), "cell 'right=9'"),
            ({"matrix": RIGHTS}, ("--reuse-max-age", "1d"), "no effect without --reuse"),
            ({"matrix": RIGHTS}, ("--reuse", "all", "--reuse-max-age", "x"), "'x' is no age"),
            ({"matrix": RIGHTS}, ("--stop-early",), "compares two arms"),
            ({"matrix": RIGHTS}, ("--arm", "a={}", "--arm", "b={}"), "both a matrix and arms"),
            ({}, ("--plan",), "--plan has no effect without a matrix"),
            ({}, ("--cell", "a"), "--cell has no effect without a matrix"),
            ({}, ("--reuse", "all"), "--reuse has no effect without a matrix"),
            ({"baseline_cell": "a"}, (), "no effect without a matrix"),
            ({"variants": [{"arguments.right": 1}]}, (), "needs a 'name'"),
            ({"variants": [{"name": "same", "arguments.right": 10}]}, (), "are the same task"),
        ],
    )
    def test_what_makes_no_matrix_is_refused(
        self,
        write: Write,
        fairtrial: Command,
        fields: dict[str, Any],
        words: tuple[str, ...],
        message: str,
    ) -> None:
        done = fairtrial("exp", "run", write(**fields), *words)
        assert (done.code, message in done.err) == (ExitCode.USAGE, True), done.err


class TestPlan:
    def test_it_prints_the_cells_and_runs_nothing(
        self, write: Write, fairtrial: Command, folder: Path
    ) -> None:
        done = fairtrial("exp", "run", write(matrix=RIGHTS), "--plan")
        assert done.code == 0, done.err
        assert "3 cells; the first is the baseline" in done.out
        assert "arguments.right = 18" in done.out
        assert ran(folder) == 0
        cells = fairtrial("exp", "run", "spec.json", "--plan", "--json").json["cells"]
        assert cells[0] == {
            "cell": "right=10",
            "changes": {"arguments.right": 10},
            "due": 20,
            "copied": 0,
        }

    def test_every_cell_is_checked(self, write: Write, fairtrial: Command) -> None:
        spec = write(matrix={"function": ["agents:agent", "agents:gone"]})
        done = fairtrial("exp", "run", spec, "--plan")
        assert done.code == ExitCode.USAGE
        assert "gone" in done.err


class TestReuse:
    def test_finished_trials_are_copied_and_marked(
        self, write: Write, fairtrial: Command, folder: Path
    ) -> None:
        spec = write(matrix=RIGHTS)
        first = fairtrial("exp", "run", spec, "--json").json
        spec = write(matrix={"arguments.right": [10, 4, 18, 16]})
        again = fairtrial("exp", "run", spec, "--reuse", "all", "--json")
        assert again.code == 0, again.err
        assert ran(folder) == 80
        cells = again.json["matrix"]["cells"]
        assert [cell["copied"] for cell in cells] == [20, 20, 20, 0]
        assert [cell["saved_usd"] for cell in cells] == [5.0, 5.0, 5.0, None]
        assert [cell["cost_usd"] for cell in cells] == [None, None, None, 5.0]
        assert again.json["cost_usd"] == 5.0
        assert [cell["pass_rate"]["estimate"] for cell in cells] == [0.5, 0.2, 0.9, 0.8]
        shown = fairtrial("exp", "show", again.json["id"], "--case", "c0001", "--json").json
        copied = {trial["arm"]: trial["copied"] for trial in shown["trials"]}
        assert copied["right=16"] is None
        assert copied["right=4"] == {
            "experiment": first["id"],
            "arm": "right=4",
            "cost_usd": 0.25,
        }
        assert "copied" in fairtrial("exp", "show", again.json["id"]).out

    def test_a_cell_alone_can_be_copied_and_a_plan_says_how_much(
        self, write: Write, fairtrial: Command, folder: Path
    ) -> None:
        spec = write(matrix=RIGHTS)
        fairtrial("exp", "run", spec)
        plan = fairtrial("exp", "run", spec, "--plan", "--reuse", "right=4", "--json").json
        assert [cell["copied"] for cell in plan["cells"]] == [0, 20, 0]
        fairtrial("exp", "run", spec, "--reuse", "right=4")
        assert ran(folder) == 60 + 40

    def test_a_single_run_of_the_same_task_counts_too(
        self, write: Write, fairtrial: Command, folder: Path
    ) -> None:
        fairtrial("exp", "run", write())
        fairtrial("exp", "run", write(matrix=RIGHTS), "--reuse", "all")
        assert ran(folder) == 20 + 40

    @pytest.mark.parametrize("change", ["grader", "limit", "program", "case", "age", "attempts"])
    def test_what_is_not_the_same_is_run(
        self, write: Write, fairtrial: Command, folder: Path, change: str
    ) -> None:
        fairtrial("exp", "run", write(matrix=RIGHTS))
        words: list[str] = []
        fields: dict[str, Any] = {}
        copied = 0
        match change:
            case "grader":
                fields["graders"] = [{"kind": "exact", "threshold": 0.9}]
            case "limit":
                words = ["--trial-timeout", "60"]
            case "program":
                (folder / "agents.py").write_text(AGENT + "\n")
            case "case":
                text = (folder / "cases.jsonl").read_text()
                (folder / "cases.jsonl").write_text(text.replace('"input": 3,', '"input": 2,'))
                fairtrial("dataset", "add", "numbers", "cases.jsonl")
                copied = 3 * 19
            case "age":
                words = ["--reuse-max-age", "0s"]
            case _:
                fields["seq"] = 2
        again = fairtrial(
            "exp", "run", write(matrix=RIGHTS, **fields), "--reuse", "all", *words, "--json"
        )
        assert again.code == 0, again.err
        assert sum(cell["copied"] for cell in again.json["matrix"]["cells"]) == copied
