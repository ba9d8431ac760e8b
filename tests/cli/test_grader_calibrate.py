"""`grader calibrate`: from labelled outputs to what a grader is worth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from tests.cli.conftest import Command

N = 80
"""Cases; the odd ones are the test split."""


def jsonl(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")


def output_of(n: int) -> str:
    return f"{'good' if n % 3 else 'poor'} {n}"


def people(n: int) -> bool:
    """People agree with the word in most cases, not in every seventh."""
    return (output_of(n).startswith("good")) != (n % 7 == 0)


def judge(**options: Any) -> str:
    fake = {"kind": "fake", "passes": "with:good", "log": "calls.log", "cost_usd": 0.25}
    return json.dumps(
        {"kind": "judge", "name": "j", "rubric": "It is good.", "provider": {**fake, **options}}
    )


@pytest.fixture
def labelled(fairtrial: Command, folder: Path) -> Command:
    """An experiment of 80 cases, and labels for all of them."""
    cases = [
        {"id": f"c{n:02}", "input": output_of(n), "split": "test" if n % 2 else "dev"}
        for n in range(N)
    ]
    jsonl(folder / "cases.jsonl", cases)
    labels = [{"caseId": f"c{n:02}", "value": "pass" if people(n) else "fail"} for n in range(N)]
    jsonl(folder / "people.jsonl", labels)
    fairtrial("dataset", "add", "d", "cases.jsonl")
    task = '{"kind": "command", "command": "tr -d \'\\"\'"}'
    grader = '{"kind": "contains", "name": "says good", "values": "good"}'
    ran = fairtrial("exp", "run", "-d", "d", "--task", task, "-g", grader, "--name", "e")
    assert ran.code == 0
    return fairtrial


WORDS = ("--labels", "people.jsonl")


def test_rates_and_kappa_are_those_of_the_test_split(labelled: Command) -> None:
    report = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--json").json
    part = report["evidence"]
    inside = [(output_of(n).startswith("good"), people(n)) for n in range(N) if n % 2]
    counts = {
        "tp": inside.count((True, True)),
        "fp": inside.count((True, False)),
        "fn": inside.count((False, True)),
        "tn": inside.count((False, False)),
    }
    found = part["confusion"]
    assert {name: found[name] for name in counts} == counts
    assert (part["labels"], part["answered"]) == (40, 40)
    passed = counts["tp"] + counts["fn"]
    assert found["tpr"] == pytest.approx(counts["tp"] / passed)
    low, high = proportion_confint(counts["tp"], passed, method="wilson")
    assert [found["tpr_ci"][end] for end in ("lower", "upper")] == pytest.approx([low, high])
    failed = counts["tn"] + counts["fp"]
    low, high = proportion_confint(counts["tn"], failed, method="wilson")
    assert [found["tnr_ci"][end] for end in ("lower", "upper")] == pytest.approx([low, high])
    table = [[counts["tp"], counts["fp"]], [counts["fn"], counts["tn"]]]
    oracle = cohens_kappa(table)
    assert part["kappa"]["estimate"] == pytest.approx(oracle.kappa)
    interval = [part["kappa"]["ci"][end] for end in ("lower", "upper")]
    assert interval == pytest.approx([oracle.kappa_low, oracle.kappa_upp])
    assert part["prevalence"] == pytest.approx(passed / 40)
    assert report["cost_usd"] == pytest.approx(0.25 * N)
    assert (report["split"], report["standing"], report["exit_code"]) == ("test", "open", 0)


def test_the_dev_split_stands_apart_and_is_no_evidence(labelled: Command) -> None:
    done = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e")
    assert done.code == 0
    assert done.out.startswith("On 40 cases of the test split, j passes ")
    assert "Split test: 40 labels" in done.out
    assert "Other splits: 40 labels, no evidence" in done.out
    assert "the grader may have been made on these cases" in done.out
    assert "Where they differ: 12 outputs" in done.out
    assert "c07 (test)  people: fail; 1: It passes by with:good." in done.out
    assert "80 outputs graded, $20.00" in done.out


def test_without_a_test_split_it_refuses_unless_told(labelled: Command, folder: Path) -> None:
    labels = [{"caseId": f"c{n:02}", "value": "pass" if people(n) else "fail"} for n in range(N)]
    jsonl(folder / "people.jsonl", [label for n, label in enumerate(labels) if n % 2 == 0])
    refused = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e")
    assert refused.code == 64
    assert "no labelled case is in the split 'test'" in refused.err
    assert "the labelled cases are in: dev" in refused.err
    assert not (folder / "calls.log").exists()  # nothing was asked in vain
    done = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--split", "all")
    assert done.code == 0
    assert "of all splits, also those it was made on," in done.out
    assert "! also cases that the grader was made on: it agrees best there" in done.out


@pytest.mark.parametrize(
    ("kept", "sentence"),
    [
        (range(1, 21, 2), "10 labels have an answer of the grader, and 20 are needed"),
        ([n for n in range(1, N, 2) if people(n)], "people fail 0 outputs, and 5 are needed"),
    ],
)
def test_too_few_labels_decide_nothing(
    labelled: Command, folder: Path, kept: Sequence[int], sentence: str
) -> None:
    labels = [{"caseId": f"c{n:02}", "value": "pass" if people(n) else "fail"} for n in kept]
    jsonl(folder / "people.jsonl", labels)
    done = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e")
    assert done.code == 2
    assert done.out.startswith(f"Too few labels to judge j: on the test split, {sentence}.")


def test_a_judge_that_agrees_is_trusted_and_one_that_passes_all_is_not(
    labelled: Command, folder: Path
) -> None:
    labels = [
        {"caseId": f"c{n:02}", "value": "pass" if output_of(n).startswith("good") else "fail"}
        for n in range(N)
    ]
    jsonl(folder / "people.jsonl", labels)
    words = (*WORDS, "-e", "e", "--split", "all")
    good = labelled("grader", "calibrate", judge(), *words)
    assert "it can stand in for people here." in good.out
    bad = labelled("grader", "calibrate", judge(passes="all"), *words)
    assert "do not rely on it" in bad.out
    assert bad.code == 0  # it informs; a low share is no failure of the command
    assert "κ: agreement beyond chance" in bad.out


def test_outputs_without_an_answer_are_in_no_rate(labelled: Command) -> None:
    rules = [{"match": "poor", "reply": "well…"}]
    done = labelled("grader", "calibrate", judge(rules=rules), *WORDS, "-e", "e", "--json")
    part = done.json["evidence"]
    assert part["answered"] < part["labels"] == 40
    missing = [one for one in done.json["outputs"] if one["passed"] is None]
    assert len(missing) == sum(output_of(n).startswith("poor") for n in range(N))
    assert missing[0]["reason"].startswith("answered off its menu twice")
    assert not missing[0]["differs"]
    text = labelled("grader", "calibrate", judge(rules=rules), *WORDS, "-e", "e").out
    assert f"Without an answer: {len(missing)} outputs" in text


def test_a_login_that_is_refused_ends_it(labelled: Command, folder: Path) -> None:
    down = judge(fail_first=10**6, fail_as="login")
    done = labelled("grader", "calibrate", down, *WORDS, "-e", "e", "-c", "1", "--json")
    assert done.code == 2
    assert done.json["standing"] == "too_few"
    reasons = {one["reason"] for one in done.json["outputs"]}
    assert any(reason.startswith("not asked: ") for reason in reasons)
    assert len((folder / "calls.log").read_text("utf-8").splitlines()) == 1


def test_labels_of_a_criterion_speak_to_the_grader_of_that_name(
    labelled: Command, folder: Path
) -> None:
    labels = [
        {"caseId": f"c{n:02}", "value": "pass" if people(n) else "fail", "criterion": "j"}
        for n in range(N)
    ]
    others = [{"caseId": f"c{n:02}", "value": "skip", "criterion": "tone"} for n in range(N)]
    jsonl(
        folder / "people.jsonl",
        [*labels, *others, {"caseId": "lost", "value": "pass", "criterion": "j"}],
    )
    done = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e")
    assert "Split test: 40 labels" in done.out
    assert "! labels of unknown cases ignored: lost" in done.out
    other = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--criterion", "tone")
    assert other.code == 64
    assert "no label belongs to an output that is there" in other.err
    none = labelled("grader", "calibrate", "exact", *WORDS, "-e", "e")
    assert none.code == 64
    assert "there is no label without a criterion" in none.err
    assert "the labels speak of: j, tone" in none.err


def test_any_grader_can_be_held_against_people_and_by_its_name(labelled: Command) -> None:
    done = labelled("grader", "calibrate", "says good", *WORDS, "-e", "e", "--json")
    assert done.json["grader"]["kind"] == "contains"
    assert done.json["evidence"]["answered"] == 40
    assert done.json["cost_usd"] == 0.0


def test_a_dataset_can_hold_the_outputs(labelled: Command, folder: Path) -> None:
    cases = [
        {
            "id": f"c{n:02}",
            "input": {"answer": output_of(n)},
            "split": "test" if n % 2 else "dev",
            "metadata": {"output": output_of(n)},
        }
        for n in range(N)
    ]
    jsonl(folder / "answers.jsonl", cases)
    labelled("dataset", "add", "answers", "answers.jsonl")
    words = ("grader", "calibrate", judge(), *WORDS, "-d", "answers", "--json")
    stored = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--json").json
    for more in ((), ("--output-at", "/input/answer")):
        found = labelled(*words, *more).json
        assert found["evidence"] == stored["evidence"]
    wrong = labelled(*words[:-1], "--output-at", "/input/text")
    assert wrong.code == 64
    assert "case 'c00' holds no output at /input/text" in wrong.err


def test_the_picture_holds_the_four_counts(labelled: Command, folder: Path) -> None:
    done = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--plot", "j.svg")
    assert f"wrote {folder / 'j.svg'}" in done.out
    svg = (folder / "j.svg").read_text("utf-8")
    assert "j against people" in svg
    assert all(note in svg for note in ("both pass", "let through", "held back", "both fail"))


def test_answers_are_kept_and_nothing_is_asked_twice(labelled: Command, folder: Path) -> None:
    for _ in range(2):
        report = labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--json").json
    assert report["cost_usd"] == 0.0
    assert len((folder / "calls.log").read_text("utf-8").splitlines()) == N
    labelled("grader", "calibrate", judge(), *WORDS, "-e", "e", "--no-cache")
    assert len((folder / "calls.log").read_text("utf-8").splitlines()) == 2 * N


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((judge(), *WORDS), 64, "--experiment or --dataset, one of the two"),
        ((judge(), *WORDS, "-e", "e", "-d", "d"), 64, "one of the two"),
        ((judge(), *WORDS, "-e", "e", "--output-at", "/x"), 64, "no effect without --dataset"),
        ((judge(), *WORDS, "-d", "d", "--output-at", "x"), 64, "is no JSON pointer"),
        ((judge(), *WORDS, "-e", "none"), 66, "no experiment"),
        ((judge(), "--labels", "none.jsonl", "-e", "e"), 66, "does not exist"),
        (("nonsense", *WORDS, "-e", "e"), 64, "unknown grader kind 'nonsense'"),
        ((judge(), "-e", "e"), 64, "--labels"),
        ((judge(), *WORDS, "-e", "e", "--plot", "x.gif"), 64, "no picture"),
    ],
)
def test_what_makes_no_sense_is_refused(
    labelled: Command, words: Sequence[str], code: int, message: str
) -> None:
    done = labelled("grader", "calibrate", *words)
    assert (done.code, message in done.err) == (code, True), done.err
