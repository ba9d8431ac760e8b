"""`fairtrial push`: results of other tools as experiments, in this store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.interchange.results.writers import (
    harbor_job,
    harbor_trial,
    inspect_archive,
    inspect_sample,
    output_item,
    promptfoo,
    promptfoo_result,
)
from tests.interchange.results.writers import jsonl as write_lines
from tests.sessions.trajectories import Trajectory


def jsonl(name: str, rows: Iterable[dict[str, Any]]) -> str:
    """Write rows, one a line."""
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def row(case: int, value: float | None, **changes: Any) -> dict[str, Any]:
    """Return a plain row."""
    return {
        "id": f"c{case}",
        "input": f"question {case}",
        "output": "an answer",
        "scores": {"exact": value},
        **changes,
    }


def two_runs() -> tuple[str, str]:
    """Write two runs of three cases with two trials each; B fixes c0 and breaks none."""
    names = []
    for name, first in (("a", 0), ("b", 1)):
        values = {0: first, 1: 1, 2: 0}
        rows = [row(case, values[case], epoch=epoch) for epoch in (1, 2) for case in values]
        names.append(jsonl(f"{name}.jsonl", rows))
    return names[0], names[1]


def test_two_pushed_runs_are_compared(fairtrial: Command) -> None:
    a, b = two_runs()
    pushed = fairtrial("push", a, b, "--dataset", "faq", "--json")
    assert pushed.code == 0, pushed.err
    standing = [one["experiment"] for one in pushed.json["pushed"]]
    assert [one["dataset"] for one in standing] == ["faq@1", "faq@1"]
    assert [(one["passed"], one["failed"]) for one in standing] == [(2, 4), (4, 2)]
    assert {one["status"] for one in standing} == {"finished"}
    assert standing[0]["provenance"]["source"] == "push"
    compared = fairtrial("exp", "compare", "a", "b", "--json").json
    assert [compared["counts"][kind] for kind in ("fixed", "broken", "same")] == [1, 0, 2]
    shown = fairtrial("exp", "show", "b", "--case", "c0", "--json").json
    assert [trial["trial"] for trial in shown["trials"]] == [1, 2]
    Path("gate.json").write_text('[{"pass_rate": {"at_least": 0.5}}]', encoding="utf-8")
    assert fairtrial("exp", "gate", "b", "--rules", "gate.json").code == 0
    assert fairtrial("exp", "gate", "a", "--rules", "gate.json").code == 1


def test_the_same_results_are_the_same_experiment(fairtrial: Command) -> None:
    a, _ = two_runs()
    ids = [fairtrial("push", a, "--json").json["pushed"][0] for _ in range(2)]
    assert [one["again"] for one in ids] == [False, True]
    assert ids[0]["experiment"]["id"] == ids[1]["experiment"]["id"]
    Path("renamed.jsonl").write_bytes(Path(a).read_bytes())
    assert fairtrial("push", "renamed.jsonl", "--json").json["pushed"][0]["again"] is True
    third = fairtrial("push", a, "--again", "--json").json["pushed"][0]
    assert third["again"] is False
    assert third["experiment"]["id"] != ids[0]["experiment"]["id"]
    assert len(fairtrial("exp", "list", "--json").json["experiments"]) == 2


def test_missing_is_never_zero_and_errors_have_a_cause(fairtrial: Command) -> None:
    name = jsonl(
        "mixed.jsonl",
        [
            row(0, 1),
            row(1, None),
            {"id": "c2", "input": "x", "error": "RateLimitError: 429"},
            {"id": "c3", "input": "x", "error": "ValueError: boom"},
            {"id": "c4", "input": "x", "error": "the agent timed out"},
            {"id": "c5", "input": "x", "error": {"cause": "undecidable", "reason": "asked"}},
        ],
    )
    found = fairtrial("push", name, "--json").json["pushed"][0]["experiment"]
    assert (found["passed"], found["failed"], found["undecided"]) == (1, 2, 3)
    assert found["causes"] == {"grader": 1, "infra": 1, "limit": 1, "task": 1, "undecidable": 1}


def test_what_was_not_understood_is_told_and_what_was_lost_ends_the_experiment(
    fairtrial: Command,
) -> None:
    path = Path("torn.jsonl")
    path.write_text(json.dumps(row(0, 1, odd=1)) + '\n{"id": "c1", "inp', encoding="utf-8")
    found = fairtrial("push", str(path), "--json").json["pushed"][0]
    notes = {note["what"]: (note["n"], note["lost"]) for note in found["notes"]}
    assert notes == {"the key 'odd'": (1, False), "rows that are no JSON": (1, True)}
    assert found["experiment"]["status"] == "stopped"
    assert "1 of its trials could not be read" in found["experiment"]["status_reason"]


def test_a_dry_run_writes_nothing(fairtrial: Command) -> None:
    a, _ = two_runs()
    found = fairtrial("push", a, "--dry-run", "--json").json
    assert (found["dry_run"], found["pushed"][0]["experiment"]) == (True, None)
    assert (found["pushed"][0]["n_trials"], found["pushed"][0]["n_cases"]) == (6, 3)
    assert fairtrial("exp", "list", "--json").json["experiments"] == []
    assert fairtrial("dataset", "list", "--json").json["versions"] == []


def test_bars_and_directions(fairtrial: Command) -> None:
    scores = [
        {"toxicity": 0.2, "bleu": 40},
        {"toxicity": 0.1, "bleu": 10},
        {"toxicity": 0.6, "bleu": 90},
    ]
    name = jsonl("s.jsonl", [row(n, 0, scores=one) for n, one in enumerate(scores)])
    rules = ("--pass", "toxicity<=0.2", "--pass", "bleu>=20")
    found = fairtrial("push", name, *rules, "--json").json["pushed"][0]
    assert (found["experiment"]["passed"], found["experiment"]["failed"]) == (1, 2)
    shown = fairtrial("exp", "show", "s", "--case", "c2", "--json").json
    (trial,) = shown["trials"]
    assert [score["passed"] for score in trial["scores"]] == [False, True]
    only = jsonl(
        "b.jsonl", [row(n, 0, scores={"bleu": one["bleu"]}) for n, one in enumerate(scores)]
    )
    refused = fairtrial("push", only)
    assert refused.code == 64
    assert "--pass 'bleu>=VALUE'" in refused.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("nothing.jsonl",), 66, "no such file"),
        (("empty",), 66, "no results"),
        (("x" * 300,), 64, "cannot be read"),
        (("good.jsonl/inner",), 66, "no such file"),
        (("/dev/null",), 64, "pipe or a device"),
        (("text.txt",), 64, "nothing in this file looks like results"),
        (("zero.jsonl",), 4, "there are no results in it"),
        (("good.jsonl", "--pass", "exact"), 64, "--pass"),
        (("good.jsonl", "--pass", "typo>=1"), 64, "typo"),
        (("good.jsonl", "--column", "input"), 64, "--column"),
        (("good.jsonl", "--column", "inputt=x"), 64, "input"),
        (("good.jsonl", "--dataset", "a\nb"), 64, "no name of a dataset"),
        (("good.jsonl", "--dataset", "none@1"), 66, "none"),
        (("good.jsonl", "--project", "none"), 66, "none"),
        (("good.jsonl", "--key", "x"), 64, "--url"),
        (("good.jsonl", "--url", "ftp://x"), 64, "no address"),
        (("good.jsonl", "--url", "http://a:b@127.0.0.1:1"), 64, "password"),
    ],
)
def test_bad_input(fairtrial: Command, words: tuple[str, ...], code: int, said: str) -> None:
    Path("empty").mkdir()
    Path("text.txt").write_text("hello\n", encoding="utf-8")
    jsonl("zero.jsonl", [{"id": None, "score": 1}])
    jsonl("good.jsonl", [row(0, 1)])
    found = fairtrial("push", *words)
    assert found.code == code, (found.out, found.err)
    assert said in found.err


def test_of_several_files_those_that_can_be_read_are_pushed(fairtrial: Command) -> None:
    a, _ = two_runs()
    found = fairtrial("push", a, "nothing.jsonl", "--json")
    assert found.code == 4
    assert [one["path"] for one in found.json["failed"]] == ["nothing.jsonl"]
    assert len(found.json["pushed"]) == 1
    assert "not pushed: nothing.jsonl" in fairtrial("push", a, "nothing.jsonl").out


def test_rows_are_matched_with_stored_cases(fairtrial: Command) -> None:
    cases = [{"id": "one", "input": "question 0"}, {"id": "two", "input": "question 1"}]
    fairtrial("dataset", "add", "faq", jsonl("cases.jsonl", cases))
    rows = [{"input": "question 0", "score": 1}, {"id": "two", "score": 0}]
    found = fairtrial("push", jsonl("r.jsonl", rows), "--dataset", "faq@1", "--json")
    assert found.code == 0, found.err
    assert found.json["pushed"][0]["experiment"]["dataset"] == "faq@1"
    shown = fairtrial("exp", "show", "r", "--case", "one", "--json").json
    assert shown["trials"][0]["verdict"] == "passed"
    refused = fairtrial("push", jsonl("w.jsonl", [row(9, 1)]), "--dataset", "faq@1")
    assert refused.code == 64
    assert "there is no case c9 in faq@1" in refused.err
    # Nobody waits for what will never come.
    left = fairtrial("exp", "list", "--json").json["experiments"]
    assert [one["status"] for one in left] == ["stopped", "finished"]


def test_a_job_brings_its_sessions(fairtrial: Command, folder: Path) -> None:
    trials = [harbor_trial("fix", 1), harbor_trial("add", 1, 0.0)]
    job = harbor_job(folder / "job", trials)
    said = Trajectory(agent="claude-code").prompt("fix it").said("done").document()
    (job / "fix__1" / "agent" / "trajectory.json").write_text(json.dumps(said), encoding="utf-8")
    for words in ((), ("--again",)):
        (pushed,) = fairtrial("push", "job", *words, "--json").json["pushed"]
        (session,) = pushed["sessions"]
        shown = fairtrial("exp", "show", "job", "--case", "fix", "--json").json
        assert shown["trials"][0]["output"]["session"] == session
        assert fairtrial("sessions", "show", session).code == 0
    assert (pushed["experiment"]["passed"], pushed["experiment"]["failed"]) == (1, 1)


def test_what_was_exported_is_pushed_elsewhere(
    fairtrial: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [row(0, 1), row(0, 0), row(1, 1, condition="attack"), {"id": "c2", "input": "x"}]
    rows[3]["error"] = "connection reset"
    fairtrial("push", jsonl("a.jsonl", rows), "--name", "first")
    fairtrial("dataset", "export", "first", "-o", "cases.jsonl")
    for form in ("jsonl", "csv", "junit"):
        fairtrial("exp", "export", "first", "--to", form, "-o", f"out.{form}")
    monkeypatch.setenv("FAIRTRIAL_HOME", str(tmp_path / "elsewhere"))
    assert fairtrial("dataset", "add", "first", "cases.jsonl").code == 0
    for form in ("jsonl", "csv"):
        found = fairtrial("push", f"out.{form}", "--dataset", "first@1", "--json")
        assert found.code == 0, found.err
        standing = found.json["pushed"][0]["experiment"]
        counts = (standing["passed"], standing["failed"], standing["undecided"])
        assert counts == (2, 1, 1)
        assert standing["causes"] == {"infra": 1}
    folded = fairtrial("push", "out.junit", "--dataset", "first@1", "--json")
    standing = folded.json["pushed"][0]["experiment"]
    assert (standing["passed"], standing["failed"], standing["undecided"]) == (1, 1, 1)


def test_two_trials_of_one_number_are_both_kept_and_told_once(fairtrial: Command) -> None:
    rows = [row(0, 1, epoch=1), row(0, 0, epoch=1)]
    (pushed,) = fairtrial("push", jsonl("a.jsonl", rows), "--json").json["pushed"]
    assert pushed["experiment"]["n_recorded"] == 2
    assert [(note["what"], note["n"]) for note in pushed["notes"]] == [
        ("trials with the number of another one: renumbered", 1)
    ]


def test_cases_with_one_id_and_two_inputs_stay_apart(fairtrial: Command) -> None:
    rows = [row(0, 1), row(0, 0, input="another question"), row(1, 1)]
    (pushed,) = fairtrial("push", jsonl("a.jsonl", rows), "--json").json["pushed"]
    assert pushed["notes"][0]["what"] == "case ids with several contents: each has its own name"
    assert pushed["experiment"]["n_cases"] == 3


def test_hostile_words_do_not_reach_the_terminal(fairtrial: Command) -> None:
    evil = "\x1b[31m\u202e" + "x" * 400
    rows = [row(0, 1, **{evil: 1}), {"id": evil, "input": evil, "error": evil}]
    found = fairtrial("push", jsonl("a.jsonl", rows), "--name", evil[:50])
    assert found.code == 0, found.err
    assert "\x1b[31m" not in found.out
    assert "\u202e" not in found.out
    assert fairtrial("exp", "show", "latest").code in (0, 66)


def test_runs_are_paired_by_what_went_in_and_never_by_place(fairtrial: Command) -> None:
    def result(city: str, *, good: bool) -> dict[str, Any]:
        return promptfoo_result(city, success=good, failureReason=0 if good else 1)

    before = [result("Paris", good=False), result("Rome", good=True)]
    after = [result("Oslo", good=True), result("Paris", good=True), result("Rome", good=True)]
    promptfoo(Path("a.json"), before)
    promptfoo(Path("b.json"), after)
    assert fairtrial("push", "a.json", "b.json", "--dataset", "cities").code == 0
    counts = fairtrial("exp", "compare", "a", "b", "--json").json["counts"]
    assert [counts[kind] for kind in ("fixed", "broken", "same")] == [1, 0, 1]


def test_trials_of_all_tools_arrive(fairtrial: Command, folder: Path) -> None:
    samples = [inspect_sample("a", epoch, scores={"match": {"value": "CI"[epoch % 2]}})
               for epoch in (1, 2)]  # fmt: skip
    samples.append(inspect_sample("b", error={"message": "RateLimitError()"}, scores={}))
    inspect_archive(folder / "log.eval", samples)
    items = [output_item("q"), output_item("q", "fail")]
    write_lines(folder / "items.jsonl", items)
    summary = {"submitted_ids": ["a", "b", "c"], "resolved_ids": ["a"], "empty_patch_ids": ["b"]}
    (folder / "gpt.run.json").write_text(json.dumps({**summary, "error_ids": ["c"]}))
    xml = '<testsuite name="s"><testcase name="a"/><testcase name="b"><failure/></testcase>'
    (folder / "junit.xml").write_text(f"{xml}</testsuite>", encoding="utf-8")
    expected = {
        "log.eval": ("inspect", 1, 1, 1),
        "items.jsonl": ("openai-evals", 1, 1, 0),
        "gpt.run.json": ("swe-bench", 1, 1, 1),
        "junit.xml": ("junit", 1, 1, 0),
    }
    for name, (tool, *counts) in expected.items():
        found = fairtrial("push", name, "--json")
        assert found.code == 0, (name, found.err)
        (pushed,) = found.json["pushed"]
        standing = pushed["experiment"]
        told = [standing[verdict] for verdict in ("passed", "failed", "undecided")]
        assert (pushed["tool"], told, standing["status"]) == (tool, counts, "finished")
