"""`exp plateau` and `exp run --series`: should a loop stop, and what ships?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import EXACT, Command, Outcome, write_cases

from fairtrial.model.errors import ExitCode

AGENT = """
def answer(n, solves):
    return str(n) if n < solves else "wrong"
"""


@pytest.fixture
def version(fairtrial: Command, folder: Path, numbers: str) -> Command:
    """Run a version that solves the first so many of 20 cases."""
    (folder / "agents.py").write_text(AGENT)

    def run(name: str, solves: int, *words: str) -> Outcome:
        arguments = {"solves": solves}
        task = {"kind": "python", "function": "agents:answer", "arguments": arguments}
        dataset = () if "-d" in words else ("-d", numbers)
        named = ("--task", json.dumps(task), *EXACT, "--name", name)
        return fairtrial("exp", "run", *dataset, *named, *words)

    return run


def test_a_series_says_at_the_end_of_each_run_whether_to_go_on(version: Command) -> None:
    assert "Too few rounds" in version("v0", 8, "--series", "loop").out
    version("v1", 10, "--series", "loop")
    done = version("v2", 11, "--series", "loop")
    assert done.code == 0
    assert "Loop of series loop" in done.out
    assert "Go on: the evidence that rounds gain less than 5 points is" in done.out
    assert "fairtrial exp plateau --series loop" in done.out
    told = version("v3", 12, "--series", "loop", "--json").json
    assert (told["series"], len(told["loop"]["rounds"])) == ("loop", 4)


def test_a_dead_loop_stops_with_3_and_says_what_ships(
    fairtrial: Command, version: Command, folder: Path
) -> None:
    for number, solves in enumerate((14, 17, 16, 17, 15, 17, 17, 16, 17, 17)):
        version(f"v{number}", solves, "--series", "loop")
    done = fairtrial("exp", "plateau", "--series", "loop")
    assert done.code == ExitCode.STOP
    assert "Version to ship: v1" in done.out
    assert "+15.0 points over the baseline" in done.out
    assert "Stop: the evidence that rounds gain less than 5 points" in done.out
    assert "dropped" in done.out
    told = fairtrial("exp", "plateau", "--series", "loop", "--plot", "loop.svg", "--json").json
    evidence = [one["evidence"] for one in told["rounds"]]
    assert evidence[0] is None
    assert evidence[-1] >= told["need"] == 20
    assert told["ship"]["ci"]["lower"] <= told["ship"]["over_baseline"]
    assert "stop at 20" in (folder / "loop.svg").read_text()
    chain = fairtrial("exp", "plateau", "--series", "loop", "--gate", "chain", "--json").json
    assert chain["ship"]["name"] == "v1"
    assert chain["rounds"][2]["gain"] == pytest.approx(-0.05)


def test_experiments_can_be_named_and_a_baseline_moved(
    fairtrial: Command, version: Command
) -> None:
    for name, solves in (("a", 4), ("b", 6), ("c", 8), ("d", 9)):
        version(name, solves)
    told = fairtrial("exp", "plateau", "a", "b", "c", "d", "--json")
    assert told.code == 0
    assert [one["gain"] for one in told.json["rounds"]] == [
        None,
        pytest.approx(0.1),
        pytest.approx(0.1),
        pytest.approx(0.05),
    ]
    from_b = fairtrial("exp", "plateau", "-d", "numbers", "--baseline", "b", "--json").json
    assert [one["name"] for one in from_b["rounds"]] == ["b", "c", "d"]
    said = fairtrial("exp", "plateau", "a", "b", "c", "d", "--rejected", "c", "--json").json
    assert [one["kept"] for one in said["rounds"]] == [True, True, False, True]


def test_two_rounds_are_too_few(fairtrial: Command, version: Command) -> None:
    version("a", 4)
    version("b", 6)
    done = fairtrial("exp", "plateau", "a", "b")
    assert (done.code, "Too few rounds" in done.out) == (ExitCode.TOO_FEW, True)


def test_a_round_that_cannot_be_paired_is_left_out_with_its_reason(
    fairtrial: Command, version: Command, folder: Path
) -> None:
    write_cases(folder / "more.jsonl", 20)
    text = (folder / "more.jsonl").read_text().replace('"input": 1', '"input": 10')
    (folder / "more.jsonl").write_text(text)
    version("a", 4, "--series", "loop")
    fairtrial("dataset", "add", "numbers", "more.jsonl")
    version("b", 6, "--series", "loop")
    version("c", 6, "-g", "number", "--series", "loop")
    done = fairtrial("exp", "plateau", "--series", "loop")
    assert "b is left out: only 9 of its 20 cases are in a too" in done.out
    assert "c is left out: other graders" in done.out
    assert done.code == ExitCode.TOO_FEW


def test_a_round_that_is_left_out_has_no_number_and_shifts_no_other(
    fairtrial: Command, version: Command, folder: Path
) -> None:
    write_cases(folder / "other.jsonl", 25)
    fairtrial("dataset", "add", "other", "other.jsonl")
    version("v0", 14, "--series", "loop")
    version("stray", 14, "-d", "other", "--series", "loop")
    for number in range(1, 13):
        version(f"v{number}", 14, "--series", "loop")
    told = fairtrial("exp", "plateau", "--series", "loop", "--json").json
    assert [one["round"] for one in told["rounds"][:4]] == [0, None, 1, 2]
    stop = told["decision"]["evidence"]["stop_round"]
    reached = next(one["round"] for one in told["rounds"] if (one["evidence"] or 0) >= 20)
    assert stop == reached
    out = fairtrial("exp", "plateau", "--series", "loop").out
    assert f"reached 20 in round {stop}" in out
    assert any(line.split()[:2] == [str(stop), f"v{stop}"] for line in out.splitlines())


def test_what_somebody_says_of_a_round_counts_in_both_gates(
    fairtrial: Command, version: Command
) -> None:
    for name, solves in (("a", 4), ("b", 10), ("c", 8), ("d", 12)):
        version(name, solves)
    words = ("exp", "plateau", "a", "b", "c", "d", "--json")
    for gate in ("greedy", "chain"):
        told = fairtrial(*words, "--gate", gate, "--rejected", "b").json
        assert [one["kept"] for one in told["rounds"]] == [True, False, True, True]
        assert told["rounds"][2]["gain"] == pytest.approx(0.2)
    version("e", 3)
    stray = fairtrial(*words, "--accepted", "e")
    assert stray.code == ExitCode.USAGE
    assert "is not in the loop" in stray.out


def test_one_version_of_a_dataset_may_be_named(
    fairtrial: Command, version: Command, folder: Path
) -> None:
    version("a", 4)
    write_cases(folder / "more.jsonl", 30)
    fairtrial("dataset", "add", "numbers", "more.jsonl")
    version("b", 6)
    told = fairtrial("exp", "plateau", "-d", "numbers@2", "--json").json
    assert (told["of"], [one["name"] for one in told["rounds"]]) == ("dataset numbers@2", ["b"])
    both = fairtrial("exp", "plateau", "-d", "numbers", "--json").json
    assert [one["name"] for one in both["rounds"]] == ["a", "b"]


def test_one_measurement_is_not_two_rounds(fairtrial: Command, version: Command) -> None:
    version("a", 4)
    done = fairtrial("exp", "plateau", "a", "a", "a")
    assert (done.code, "a is named twice" in done.err) == (ExitCode.USAGE, True)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), ExitCode.USAGE, "which loop?"),
        (("a", "--series", "x"), ExitCode.USAGE, "both name a loop"),
        (("--series", ""), ExitCode.NOT_FOUND, "no experiment in a series ''"),
        (("--series", "two words"), ExitCode.NOT_FOUND, "--series 'two words'"),
        (("--series", "none"), ExitCode.NOT_FOUND, "no experiment in a series 'none'"),
        (("-d", "numbers"), ExitCode.NOT_FOUND, "no finished experiment of one arm on numbers"),
        (("--series", "x", "--eps", "0"), ExitCode.USAGE, "--eps"),
        (("--series", "x", "--gate", "sideways"), ExitCode.USAGE, "sideways"),
        (("--series", "x", "--plot", "x.gif"), ExitCode.USAGE, ".svg or .png"),
    ],
)
def test_what_makes_no_loop_is_refused(
    fairtrial: Command, numbers: str, words: tuple[str, ...], code: ExitCode, message: str
) -> None:
    del numbers
    done = fairtrial("exp", "plateau", *words)
    assert done.code == code
    assert message in done.err
