"""`exp compare` on real stores: what it says, its exit code, and every bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import EXACT, Command, write_cases

from fairtrial.model.errors import ExitCode

AGENT = """
import json, sys
case = json.load(sys.stdin)
print(case if str(case) in sys.argv[1:] else "wrong", end="")
"""


def run(
    fairtrial: Command,
    name: str,
    passes: range,
    *words: str,
    dataset: str = "n",
) -> Any:
    """Run an agent that passes some cases, under a name."""
    argv = [sys.executable, "agent.py", *map(str, passes)]
    task = json.dumps({"kind": "command", "command": argv})
    command = ("exp", "run", "-d", dataset, "--task", task, "-g", "exact", "--name", name)
    done = fairtrial(*command, *words, "--json")
    assert done.code in (0, 4), done
    return done.json


@pytest.fixture
def agent(folder: Path, fairtrial: Command) -> None:
    (folder / "agent.py").write_text(AGENT)
    write_cases(folder / "n.jsonl", 12)
    fairtrial("dataset", "add", "n", "n.jsonl")


@pytest.fixture
def two(agent: None, fairtrial: Command) -> Any:
    del agent
    run(fairtrial, "base", range(4))
    return run(fairtrial, "cand", range(1, 12))


def test_a_comparison_informs(two: Any, fairtrial: Command) -> None:
    done = fairtrial("exp", "compare", "base", "cand")
    assert done.code == ExitCode.OK
    first, *_, last = done.out.strip().splitlines()
    assert first == last
    assert last.startswith("cand is better than base: it passes 58.3 points more (33.3 % → 91.7 %)")
    assert "8 fixed, 1 broken, 0 improved, 0 regressed, 3 same" in done.out
    assert f"fairtrial exp show {two['id']} --case c0000" in done.out
    assert "… and 3 more" in done.out
    assert "no single flip can be told from luck" in done.out
    assert "12 of 12 cases compared, 100.0% of those in base" in done.out
    assert "Decision" not in done.out


def test_the_json_has_every_row(two: Any, fairtrial: Command) -> None:
    found = fairtrial("exp", "compare", "base", two["id"][:-4], "--json").json
    assert found["schema"] == "fairtrial.comparison/1"
    assert len(found["rows"]["fixed"]) == found["counts"]["fixed"] == 8
    assert [row["case_id"] for row in found["rows"]["broken"]] == ["c0000"]
    assert found["delta"]["ci"]["method"] == "tango"
    assert found["delta"]["estimate"] == pytest.approx(7 / 12)
    assert found["decision"] is None
    assert found["exit_code"] == 0


@pytest.mark.usefixtures("two")
def test_a_gate_decides(fairtrial: Command) -> None:
    held = fairtrial("exp", "compare", "base", "cand", "--gate")
    assert held.code == ExitCode.NEGATIVE
    assert held.out.startswith("Hold. cand is better than base")
    assert "with 1 broken you would need 10 fixed, there are 8" in held.out
    *_, last = held.out.strip().splitlines()
    assert "It is held all the same: 8 fixed against 1 broken" in last
    few = fairtrial("exp", "compare", "base", "cand", "--gate", "--lambda", "1").out
    *_, last = few.strip().splitlines()
    assert "It is held all the same: 1 of the 4 cases that the baseline solved" in last
    milder = ("--lambda", "1", "--tau", "0.3")
    shipped = fairtrial("exp", "compare", "base", "cand", "--gate", *milder, "--json")
    assert shipped.code == ExitCode.OK
    assert shipped.json["decision"]["outcome"] == "ship"
    assert shipped.json["decision"]["evidence"]["harm_weight"] == 1
    stricter = fairtrial(
        "exp", "compare", "base", "cand", "--gate", *milder, "--gate-alpha", "0.01"
    )
    assert stricter.code == ExitCode.NEGATIVE


@pytest.mark.usefixtures("two")
def test_a_margin_decides(fairtrial: Command) -> None:
    assert fairtrial("exp", "compare", "base", "cand", "--margin", "0.05").code == ExitCode.OK
    worse = fairtrial("exp", "compare", "cand", "base", "--margin", "0.05")
    assert worse.code == ExitCode.NEGATIVE
    assert "A loss of 0.05 cannot be ruled out" in worse.out
    small = fairtrial("exp", "compare", "cand", "base", "--margin", "0.95").out
    assert "It may ship all the same: The arms are the same within 0.95" in small
    both = fairtrial("exp", "compare", "cand", "base", "--margin", "0.05", "--gate", "--json")
    assert both.json["decision"]["outcome"] == "hold"


@pytest.mark.usefixtures("two")
def test_the_matrix_is_printed_when_asked(fairtrial: Command) -> None:
    assert (
        "by passes in base (rows) and cand" not in fairtrial("exp", "compare", "base", "cand").out
    )
    out = fairtrial("exp", "compare", "base", "cand", "--matrix").out
    assert re.search(
        r"Cases by passes in base \(rows\) and cand \(columns\)\n +0 +1\n0 +0 +8\n1 +1 +3", out
    )


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("flag", ["--lambda", "--tau", "--gate-alpha"])
def test_options_of_the_gate_need_it(fairtrial: Command, flag: str) -> None:
    done = fairtrial("exp", "compare", "base", "cand", flag, "0.3")
    assert done.code == ExitCode.USAGE
    assert f"{flag} has no effect without --gate" in done.err


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("base", "base"), "A and B are the same experiment"),
        (("base", "nowhere"), "there is no experiment nowhere"),
        (("base", "cand:other"), "cand has no arm other"),
        (("base", "cand:"), "cand has no arm (empty)"),
        (("base", "cand", "third"), "'third' is one argument too many"),
        (("base", "cand", "--gate", "--lambda", "inf"), "--lambda: expected float <= 1000000.0"),
        (("base", "cand", "--pairwise", "judge"), "why: this is 'judge'"),
        (("base", "nowhere:other"), "there is no experiment nowhere"),
        (("base", "cand", "--verdict", "seq"), "sequential attempts"),
        (("base", "cand", "--margin", "0"), "--margin"),
        (("base", "cand", "--cluster", "repo"), "12 of 12 cases have no 'repo'"),
    ],
)
def test_bad_input_is_explained(fairtrial: Command, words: tuple[str, ...], text: str) -> None:
    done = fairtrial("exp", "compare", *words)
    assert done.code in (ExitCode.USAGE, ExitCode.NOT_FOUND)
    assert text in done.err


@pytest.mark.usefixtures("agent")
def test_an_interval_that_does_not_fit(fairtrial: Command) -> None:
    for name in ("base", "cand"):
        run(fairtrial, name, range(5), "--trials", "2")
    done = fairtrial("exp", "compare", "base", "cand", "--ci", "tango")
    assert done.code == ExitCode.USAGE
    assert "--ci: tango needs pass/fail cases with one trial an arm" in done.err
    assert fairtrial("exp", "compare", "base", "cand", "--ci", "bootstrap").code == ExitCode.OK


@pytest.mark.usefixtures("agent")
def test_all_ties_are_no_certainty(fairtrial: Command) -> None:
    for name in ("base", "cand"):
        run(fairtrial, name, range(12))
    found = fairtrial("exp", "compare", "base", "cand", "--json").json
    assert found["delta"]["estimate"] == 0.0
    assert found["delta"]["ci"]["lower"] < 0.0 < found["delta"]["ci"]["upper"]
    assert found["graders"][0]["ci"]["lower"] < 0.0
    assert found["sentence"].startswith("No difference seen")
    held = fairtrial("exp", "compare", "base", "cand", "--gate")
    assert held.code == ExitCode.NEGATIVE
    assert fairtrial("exp", "compare", "base", "cand", "--margin", "0.05").code == 1


@pytest.mark.usefixtures("agent")
def test_one_case(fairtrial: Command) -> None:
    for name, passes in (("base", range(0)), ("cand", range(1))):
        run(fairtrial, name, passes, "--first-n", "1")
    done = fairtrial("exp", "compare", "base", "cand")
    assert done.code == ExitCode.OK
    assert "and that proves nothing" in done.out.splitlines()[-1]
    assert fairtrial("exp", "compare", "base", "cand", "--gate").code == ExitCode.TOO_FEW


@pytest.mark.usefixtures("agent")
def test_different_datasets(fairtrial: Command, folder: Path) -> None:
    (folder / "other.jsonl").write_text('{"id": "z", "input": 1, "expected": "1"}\n')
    fairtrial("dataset", "add", "other", "other.jsonl")
    run(fairtrial, "base", range(4))
    run(fairtrial, "cand", range(4), dataset="other")
    done = fairtrial("exp", "compare", "base", "cand")
    assert done.code == ExitCode.NO_VERDICT
    assert "No verdict: base and cand share no case (n@1 and other@1)." in done.out
    assert "run both on the same dataset" in done.out
    assert "Only in base: 12 cases" in done.out
    assert fairtrial("exp", "compare", "base", "cand", "--gate").code == ExitCode.NO_VERDICT


@pytest.mark.usefixtures("agent")
def test_all_new_and_dropped_rows_are_in_the_json_as_ids(fairtrial: Command, folder: Path) -> None:
    lines = [
        json.dumps({"id": f"c{n:04}", "input": n, "expected": str(n), "condition": condition})
        for n in range(200)
        for condition in ("clean", "attack")
    ]
    (folder / "other.jsonl").write_text("\n".join(lines))
    fairtrial("dataset", "add", "other", "other.jsonl")
    run(fairtrial, "base", range(4))
    run(fairtrial, "cand", range(4), dataset="other")
    ids = [f"c{n:04}" for n in range(200)]
    found = fairtrial("exp", "compare", "base", "cand", "--json")
    assert found.json["new"] == {"attack": ids, "clean": ids}
    assert found.json["dropped"] == {"default": ids[:12]}
    assert (found.json["counts"]["new"], found.json["counts"]["dropped"]) == (400, 12)
    assert not {"new", "dropped", "same"} & found.json["rows"].keys()
    assert len(found.out) < 412 * 20 + 6_000


@pytest.mark.usefixtures("agent")
def test_a_newer_version_of_a_case(fairtrial: Command, folder: Path) -> None:
    run(fairtrial, "base", range(4))
    lines = (folder / "n.jsonl").read_text().splitlines()
    lines[0] = '{"id": "c0000", "input": "new", "expected": "new"}'
    (folder / "n.jsonl").write_text("\n".join(lines))
    fairtrial("dataset", "add", "n", "n.jsonl")
    run(fairtrial, "cand", range(1, 12))
    found = fairtrial("exp", "compare", "base", "cand", "--json").json
    assert [row["case_id"] for row in found["rows"]["not_comparable"]] == ["c0000"]
    assert found["coverage"]["paired"] == 11


@pytest.mark.usefixtures("agent")
def test_an_unfinished_experiment(fairtrial: Command) -> None:
    run(fairtrial, "base", range(4))
    down = json.dumps({"kind": "http", "url": "http://127.0.0.1:1"})
    words = ("--retries", "0", "--stop-after-infra", "2", "--concurrency", "1")
    fairtrial("exp", "run", "-d", "n", "--task", down, "-g", "exact", "--name", "cand", *words)
    done = fairtrial("exp", "compare", "base", "cand")
    assert done.code == ExitCode.NO_VERDICT
    assert "cand is stopped" in done.out
    assert "fairtrial exp run --resume" in done.out
    forced = fairtrial("exp", "compare", "base", "cand", "--force")
    assert "trials of cand without a verdict: 2 infra" in forced.out
    assert forced.code == ExitCode.NO_VERDICT  # nothing was decided


@pytest.mark.usefixtures("agent")
def test_a_run_whose_task_always_failed_is_neither_better_nor_worse(fairtrial: Command) -> None:
    run(fairtrial, "base", range(12))
    broken = json.dumps({"kind": "command", "command": "exit 3"})
    fairtrial("exp", "run", "-d", "n", "--task", broken, "-g", "exact", "--name", "cand")
    done = fairtrial("exp", "compare", "base", "cand")
    last = done.out.splitlines()[-1]
    assert last.startswith("No verdict on cand against base: no grader judged any output of cand")
    assert fairtrial("exp", "compare", "base", "cand", "--json").json["sentence"] == last


@pytest.mark.usefixtures("agent")
def test_json_says_once_how_a_row_is_opened(fairtrial: Command) -> None:
    run(fairtrial, "base", range(4))
    run(fairtrial, "cand", range(6))
    found = fairtrial("exp", "compare", "base", "cand", "--json").json
    row = found["rows"]["fixed"][0]
    words = found["open"].replace("CASE_ID", row["case_id"]).split()
    assert words[:1] == ["fairtrial"]
    shown = fairtrial(*words[1:], "--json").json
    assert shown["trials"][0]["verdict"] == "passed"


@pytest.mark.usefixtures("agent")
def test_other_graders_and_limits(fairtrial: Command) -> None:
    run(fairtrial, "base", range(4))
    run(fairtrial, "slow", range(4), "--trial-timeout", "60")
    run(fairtrial, "more", range(4), "-g", "contains")
    for name, text in (
        ("slow", "other time limit: none in base, 60 s in slow"),
        ("more", "other graders: contains is in more and not in base"),
    ):
        done = fairtrial("exp", "compare", "base", name)
        assert done.code == ExitCode.NO_VERDICT
        assert text in done.out


@pytest.mark.usefixtures("agent")
def test_the_run_that_chose_the_cases(fairtrial: Command) -> None:
    base = run(fairtrial, "base", range(4))
    again = run(fairtrial, "again", range(12), "--failing", "base")
    assert again["spec"]["failing"] == base["id"]
    done = fairtrial("exp", "compare", "base", "again", "--gate")
    assert done.code != ExitCode.OK
    assert "again ran only the cases that base failed" in done.out
    assert "would pass by luck (1 to 2 of 8)" in done.out
    decided = done.out[done.out.index("Decision: no verdict") :].splitlines()
    assert "again ran only the cases that base failed" in decided[1]


@pytest.mark.usefixtures("agent")
def test_clusters(fairtrial: Command, folder: Path) -> None:
    lines = [
        json.dumps({"id": f"c{n}", "input": n, "expected": str(n), "metadata": {"repo": n % 4}})
        for n in range(12)
    ]
    (folder / "repos.jsonl").write_text("\n".join(lines))
    fairtrial("dataset", "add", "repos", "repos.jsonl")
    for name, passes in (("base", range(4)), ("cand", range(10))):
        run(fairtrial, name, passes, dataset="repos")
    found = fairtrial("exp", "compare", "base", "cand", "--cluster", "repo", "--json").json
    assert (found["delta"]["n"], found["delta"]["clusters"]) == (12, 4)
    assert any("only 4 clusters" in problem["what"] for problem in found["problems"])


def test_reading_commands_do_without_numpy() -> None:
    code = (
        "import sys; import fairtrial.app.exp_list, fairtrial.app.exp_show, fairtrial.app.exp_run;"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.usefixtures("agent")
def test_a_candidate_that_ran_a_part_has_no_verdict_and_the_last_line_says_so(
    fairtrial: Command,
) -> None:
    run(fairtrial, "base", range(2))
    run(fairtrial, "half", range(12), "--first-n", "6")
    done = fairtrial("exp", "compare", "base", "half", "--gate")
    assert done.code == ExitCode.NO_VERDICT
    last = done.out.strip().splitlines()[-1]
    assert last.startswith("No verdict: half ran only a part: 6 of 12 cases of base are missing.")
    assert "As far as it goes, " in last


@pytest.mark.usefixtures("agent")
def test_no_verdict_is_said_once(fairtrial: Command) -> None:
    run(fairtrial, "base", range(4))
    run(fairtrial, "other", range(4), "-g", "contains")
    done = fairtrial("exp", "compare", "base", "other", "--gate")
    assert done.code == ExitCode.NO_VERDICT
    assert done.out.splitlines()[0].startswith("No verdict: other graders:")


@pytest.mark.usefixtures("agent")
def test_a_cluster_that_some_cases_lack_is_refused(fairtrial: Command, folder: Path) -> None:
    lines = [
        {"id": f"k{i}", "input": i, "expected": str(i), "metadata": {"repo": "r"} if i else {}}
        for i in range(6)
    ]
    (folder / "k.jsonl").write_text("\n".join(map(json.dumps, lines)))
    fairtrial("dataset", "add", "k", "k.jsonl")
    run(fairtrial, "base", range(4), dataset="k")
    run(fairtrial, "cand", range(6), dataset="k")
    done = fairtrial("exp", "compare", "base", "cand", "--cluster", "repo")
    assert done.code == ExitCode.USAGE
    assert "--cluster: 1 of 6 cases have no 'repo' in their metadata" in done.err
    assert "they belong to no cluster: k0" in done.err


ARMS_AGENT = """
import json, sys
case = json.load(sys.stdin)
number, arm = case["input"], case["arm"]
print(json.dumps({"output": "no" if arm == "a2" and number < 3 else str(number)}))
"""


@pytest.fixture
def arms(agent: None, folder: Path, fairtrial: Command) -> str:
    """An experiment of two arms, of which the second one fails three cases."""
    del agent
    (folder / "arms.py").write_text(ARMS_AGENT)
    task = json.dumps({"kind": "command", "command": ["python3", "arms.py"], "envelope": True})
    words = ("-d", "n", "--task", task, "-g", "exact", "--name", "ab")
    found: str = fairtrial("exp", "aa", *words, "--json").json["experiments"][0]
    return found


def test_one_experiment_of_two_arms_is_compared_with_itself(arms: str, fairtrial: Command) -> None:
    found = fairtrial("exp", "compare", "ab", "--json").json
    assert (found["a"]["id"], found["a"]["arm"], found["a"]["label"]) == (arms, "a1", "a1")
    assert (found["b"]["id"], found["b"]["arm"], found["b"]["label"]) == (arms, "a2", "a2")
    assert found["counts"]["broken"] == 3
    assert found["baseline"] is None
    for words in (("ab:a1", "ab:a2"), ("ab:a2",), (f"{arms}:a1", "ab:a2")):
        again = fairtrial("exp", "compare", *words, "--json").json
        assert again["sentence"] == found["sentence"], words
    back = fairtrial("exp", "compare", "ab:a2", "ab:a1", "--json").json
    assert back["counts"]["fixed"] == 3
    shown = fairtrial("exp", "show", "ab").out
    assert "vs baseline +0/−3  fixed and broken of 12 cases shared with arm a1" in shown
    assert "fairtrial exp compare exp_" not in shown


def test_an_arm_and_another_experiment_say_which_arm(arms: str, fairtrial: Command) -> None:
    del arms
    run(fairtrial, "cand", range(12))
    found = fairtrial("exp", "compare", "ab:a2", "cand", "--json").json
    assert (found["a"]["label"], found["b"]["label"]) == ("ab:a2", "cand")
    several = fairtrial("exp", "compare", "ab", "cand")
    assert several.code == ExitCode.USAGE
    assert "ab has several arms" in several.err
    assert "say which: ab:a2" in several.err


@pytest.mark.usefixtures("two")
def test_one_alone_is_compared_with_its_baseline(fairtrial: Command) -> None:
    found = fairtrial("exp", "compare", "cand", "--json").json
    assert (found["a"]["name"], found["b"]["name"]) == ("base", "cand")
    assert found["baseline"]["source"] == "earlier"
    text = fairtrial("exp", "compare", "cand").out
    assert "the newest earlier finished one of the same kind" in text
    first = fairtrial("exp", "compare", "base")
    assert first.code == ExitCode.NOT_FOUND
    assert "no baseline: it is the first experiment of its dataset and task" in first.err
    assert "fairtrial exp compare BASELINE base" in first.err


def test_a_grader_whose_script_was_edited_is_another_grader(
    agent: None, folder: Path, fairtrial: Command
) -> None:
    del agent
    grader = json.dumps({"kind": "command", "command": ["python3", "grade.py"]})
    for name, threshold in (("base", 0), ("again", 0), ("cand", 1)):
        (folder / "grade.py").write_text(f"print({threshold})")
        run(fairtrial, name, range(4), "-g", grader)
    assert fairtrial("exp", "compare", "base", "again").code == ExitCode.OK
    other = fairtrial("exp", "compare", "base", "cand")
    assert other.code == ExitCode.NO_VERDICT
    assert "other grader version: the file of grader command was changed" in other.out
    aa = fairtrial("exp", "aa", "base", "cand")
    assert aa.code == ExitCode.USAGE
    assert "they differ in: files of graders" in aa.err
    fairtrial("exp", "regrade", "base", "--name", "regraded")
    assert fairtrial("exp", "compare", "regraded", "cand").code == ExitCode.OK


LOST = """
from fairtrial.model.errors import Undecidable

def main(case):
    if case < 3:
        raise Undecidable("gone", at_fault="FAULT")
    return str(case)
"""


@pytest.mark.parametrize(("fault", "outcome"), [("platform", "hold"), ("task", "no_verdict")])
def test_the_gate_counts_only_what_the_task_left_undecided(
    agent: None, folder: Path, fairtrial: Command, fault: str, outcome: str
) -> None:
    del agent
    run(fairtrial, "base", range(12))
    (folder / f"lost_{fault}.py").write_text(LOST.replace("FAULT", fault))
    task = json.dumps({"kind": "python", "function": f"lost_{fault}:main"})
    words = ("-d", "n", "--task", task, "-g", "exact", "--name", "cand")
    assert fairtrial("exp", "run", *words, "--json").json["undecided"] == 3
    decision = fairtrial("exp", "compare", "base", "cand", "--gate", "--json").json["decision"]
    assert decision["outcome"] == outcome
    assert decision["evidence"].get("platform_rows") == (3 if fault == "platform" else None)


def test_what_was_tried_on_the_dataset_is_told_with_what_it_does_to_the_best(
    fairtrial: Command, folder: Path, numbers: str
) -> None:
    script = folder / "agent.py"
    for number in range(3):
        solves = f"text != '3' and {number}"
        script.write_text(
            f"import sys; text = sys.stdin.read().strip(); print(text if {solves} else '')"
        )
        task = json.dumps({"kind": "command", "command": ["python3", "agent.py"]})
        words = ("-d", numbers, "--task", task, *EXACT, "--first-n", "4", "--name", f"v{number}")
        fairtrial("exp", "run", *words)
        if number == 1:
            assert "Best so far" not in fairtrial("exp", "compare", "v0", "v1").out
    # The command is the same; the file that it runs is not.
    done = fairtrial("exp", "compare", "v0", "v2")
    assert "3 configurations were tried on numbers" in done.out
    told = fairtrial("exp", "compare", "v0", "v2", "--json").json["tried"]
    assert (told["configurations"], told["basis"]) == (3, "spread")
