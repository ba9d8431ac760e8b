"""`exp baseline`: what this project's experiments are compared with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import CAT, EXACT, Command

from fairtrial.model.errors import ExitCode


@pytest.fixture
def three(fairtrial: Command, numbers: str) -> Command:
    """Experiments one, two and three of one kind."""
    for name in ("one", "two", "three"):
        words = ("-d", numbers, "--task", CAT, "--name", name)
        assert fairtrial("exp", "run", *words, *EXACT).code == 0
    return fairtrial


def test_without_a_choice_the_newest_earlier_one_is_it(three: Command) -> None:
    assert "no baseline: the project has set none" in three("exp", "baseline").out
    found = three("exp", "baseline", "show", "three", "--json").json
    two = three("exp", "show", "two", "--json").json["id"]
    assert (found["baseline"]["id"], found["baseline"]["source"]) == (two, "earlier")
    first = three("exp", "baseline", "show", "one")
    assert first.code == 0
    assert "no baseline: it is the first experiment of its dataset and task" in first.out


def test_the_projects_choice_holds_in_all_its_folders_until_it_is_cleared(
    three: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".git").mkdir()
    (folder / "deep").mkdir()
    assert "one (exp_" in three("exp", "baseline", "set", "one").out
    monkeypatch.chdir(folder / "deep")
    assert (
        three("exp", "baseline", "show", "three", "--json").json["baseline"]["source"] == "project"
    )
    assert "one (exp_" in three("exp", "baseline").out
    assert "the project's is cleared" in three("exp", "baseline", "clear").out
    assert "the project had none" in three("exp", "baseline", "clear").out
    assert three("exp", "baseline", "show", "--json").json["experiment"] is None


def test_another_project_has_its_own(
    three: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three("exp", "baseline", "set", "one")
    monkeypatch.chdir(tmp_path)
    assert three("exp", "baseline", "show", "--json").json["baseline"]["id"] is None


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("set",), ExitCode.USAGE, "which experiment?"),
        (("set", "nobody"), ExitCode.NOT_FOUND, "there is no experiment nobody"),
        (("clear", "one"), ExitCode.USAGE, "clear takes no experiment"),
        (("sett", "one"), ExitCode.USAGE, "sett"),
    ],
)
def test_mistakes_are_told(three: Command, words: tuple[str, ...], code: int, what: str) -> None:
    done = three("exp", "baseline", *words)
    assert done.code == code
    assert what in done.err


def test_only_what_finished_with_a_verdict_can_be_one(fairtrial: Command, numbers: str) -> None:
    crash = json.dumps({"kind": "command", "command": "exit 1"})
    fairtrial("exp", "run", "-d", numbers, "--task", crash, *EXACT, "--name", "broken")
    done = fairtrial("exp", "baseline", "set", "broken")
    assert done.code == ExitCode.USAGE
    assert "never had an output judged" in done.err


AGENT = """
import json, sys
case = json.load(sys.stdin)
print(case if case not in map(int, sys.argv[1:]) else "wrong", end="")
"""


@pytest.fixture
def flipping(fairtrial: Command, numbers: str, folder: Path) -> Command:
    """Experiments `base`, which fails 1, 2 and 3, and `cand`, which fails 3 and 4."""
    (folder / "agent.py").write_text(AGENT)
    for name, wrong in (("base", ("1", "2", "3")), ("cand", ("3", "4"))):
        task = json.dumps({"kind": "command", "command": ["python3", "agent.py", *wrong]})
        words = ("-d", numbers, "--task", task, "--name", name)
        assert fairtrial("exp", "run", *words, *EXACT).code == 0
    return fairtrial


def test_what_was_fixed_and_broken_is_shown_and_listed(flipping: Command) -> None:
    base = flipping("exp", "show", "base", "--json").json
    found = flipping("exp", "show", "cand", "--json").json["vs_baseline"]
    assert found == {
        "id": base["id"],
        "name": "base",
        "arm": "main",
        "fixed": 2,
        "broken": 1,
        "compared": 20,
        "reason": None,
    }
    compared = flipping("exp", "compare", "base", "cand", "--json").json["counts"]
    assert (compared["fixed"], compared["broken"]) == (found["fixed"], found["broken"])
    assert base["vs_baseline"]["fixed"] is None
    assert "first experiment of its dataset" in base["vs_baseline"]["reason"]
    text = flipping("exp", "show", "cand").out
    shared = f"fixed and broken of 20 cases shared with base ({base['id']})"
    assert f"vs baseline +2/−1  {shared}" in text
    first = flipping("exp", "show", "base").out
    assert "vs baseline –  no baseline: it is the first experiment" in first
    listed = flipping("exp", "list", "--json").json["experiments"]
    assert [one["vs_baseline"] for one in listed] == [found, base["vs_baseline"]]
    lines = flipping("exp", "list").out.splitlines()
    assert "Flips" in lines[0]
    assert "+2/−1" in lines[1]
    assert "–" in lines[2]


def test_flips_say_why_there_are_none(flipping: Command, numbers: str) -> None:
    def reason(*words: str) -> str:
        flipping("exp", "run", "-d", numbers, "--name", "x", *words)
        found = flipping("exp", "show", "x", "--json").json["vs_baseline"]
        assert found["fixed"] is None
        assert flipping("exp", "list", "--json").json["experiments"][0]["vs_baseline"] == found
        return str(found["reason"])

    task = ("--task", json.dumps({"kind": "command", "command": ["python3", "agent.py"]}))
    same = "other time limit: none in the baseline, 5 s in it"
    assert reason(*task, *EXACT, "--trial-timeout", "5") == same
    flipping("exp", "baseline", "set", "base")
    assert "number is in it and not in the baseline" in reason(*task, *EXACT, "-g", "number")
    chosen = reason(*task, *EXACT, "--failing", "base")
    assert chosen == "it ran only the cases that the baseline failed"
