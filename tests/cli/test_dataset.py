"""The dataset verbs, from files to versions and back."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, write_cases

from fairtrial.model.errors import ExitCode

CASES: list[dict[str, Any]] = [
    {"id": "a", "input": {"q": "1 + 1"}, "expected": 2, "tags": ["sum"], "split": "test"},
    {"id": "b", "input": "caf\u00e9\n", "expected": None, "metadata": {"repo": "x"}},
    {"id": "b", "input": "caf\u00e9\n", "condition": "attack"},
]


def added(fairtrial: Command, *words: str) -> Any:
    done = fairtrial("dataset", "add", *words, "--json")
    assert done.code == 0, done.out + done.err
    return done.json


@pytest.fixture
def cases(folder: Path) -> Path:
    path = folder / "cases.json"
    path.write_text(json.dumps(CASES), encoding="utf-8")
    return path


def test_the_same_content_makes_no_new_version_and_another_does(
    fairtrial: Command, cases: Path
) -> None:
    first = added(fairtrial, "d", "cases.json")
    assert (first["ref"], first["is_new"], first["n_cases"]) == ("d@1", True, 3)
    again = added(fairtrial, "d", "cases.json")
    assert (again["ref"], again["is_new"]) == ("d@1", False)
    cases.write_text(json.dumps(CASES[:2]))
    assert added(fairtrial, "d", "cases.json")["ref"] == "d@2"
    listed = fairtrial("dataset", "list", "d", "--json").json["versions"]
    assert [version["ref"] for version in listed] == ["d@2", "d@1"]


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "tsv", "yaml"])
def test_an_export_reads_back_to_the_same_version(
    fairtrial: Command, folder: Path, suffix: str
) -> None:
    digest = added(fairtrial, "d", "cases.json")["digest"]
    done = fairtrial("dataset", "export", "d", "-o", f"out.{suffix}")
    assert done.out == f"wrote {folder / f'out.{suffix}'}\n"
    again = added(fairtrial, "d", f"out.{suffix}")
    assert (again["digest"], again["is_new"]) == (digest, False)


@pytest.mark.usefixtures("cases")
def test_an_export_without_a_file_is_printed(fairtrial: Command) -> None:
    added(fairtrial, "d", "cases.json")
    lines = fairtrial("dataset", "export", "d").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["a", "b", "b"]


@pytest.mark.usefixtures("cases")
def test_show_prints_the_first_cases_and_one_whole(fairtrial: Command) -> None:
    added(fairtrial, "d", "cases.json")
    shown = fairtrial("dataset", "show", "d", "-n", "1")
    assert "d@1  3 cases" in shown.out
    assert '{"q": "1 + 1"}  → 2' in shown.out
    assert "… and 2 more" in shown.out
    one = fairtrial("dataset", "show", "d@1", "--case", "b", "--json").json
    assert [case["condition"] for case in one["cases"]] == ["default", "attack"]
    assert fairtrial("dataset", "show", "d", "--case", "z").code == ExitCode.NOT_FOUND


def test_diff_tells_added_removed_and_changed(fairtrial: Command, cases: Path) -> None:
    added(fairtrial, "d", "cases.json")
    changed = [{**CASES[0], "expected": 3, "tags": []}, CASES[1], {"id": "new", "input": 0}]
    cases.write_text(json.dumps(changed))
    added(fairtrial, "d", "cases.json")
    diff = fairtrial("dataset", "diff", "d@1", "@2")
    assert "1 added, 1 removed, 1 changed, 1 case the same" in diff.out
    assert "~ a  expected, tags" in diff.out
    assert "- b [attack]" in diff.out
    assert "+ new" in diff.out
    assert fairtrial("dataset", "diff", "d@1", "d@1").out.endswith(
        "the same cases in the same order\n"
    )


def test_columns_of_a_table_are_named(fairtrial: Command, folder: Path) -> None:
    (folder / "faq.csv").write_text("nr,question,answer,area\n1,why?,because,x\n")
    names = ("--id-column", "nr", "--input-column", "question", "--expected-column", "answer")
    added(fairtrial, "faq", "faq.csv", *names)
    (case,) = fairtrial("dataset", "show", "faq", "--json").json["cases"]
    assert (case["id"], case["input"], case["expected"]) == ("1", "why?", "because")
    assert case["metadata"] == {"area": "x"}


def test_standard_input_is_read_as_jsonl(
    fairtrial: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(b'{"input": 1}\n{"input": 2}\n'))
    monkeypatch.setattr("sys.stdin", stream)
    assert added(fairtrial, "d", "-")["n_cases"] == 2


def test_several_files_make_one_version(fairtrial: Command, folder: Path) -> None:
    (folder / "a.jsonl").write_text('{"id": "1", "input": 1}\n')
    (folder / "b.yaml").write_text("- id: '2'\n  input: 2\n")
    assert added(fairtrial, "d", "a.jsonl", "b.yaml")["n_cases"] == 2


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("x.jsonl", b'{"id": "a", "input": 1}\n{"id": "a", "input": 2}\n', "x.jsonl:2"),
        ("x.jsonl", b'{"id": "a", "input": NaN}\n', "x.jsonl:1"),
        ("x.jsonl", b'{"id": "a", "input": 1}\n{"id": "b", "inp', "x.jsonl:2"),
        ("x.jsonl", b'{"id": "a", "input": 1}\n{"id": "b", "imput": 2}\n', "x.jsonl:2"),
        ("x.csv", b"id,input\na,1\nb\n", "x.csv:3"),
        ("x.csv", b"id,input\na,caf\xe9\n", "x.csv:2"),
        ("x.yaml", b"- id: a\n  input: 1\n- id: b\n  input: [\n", "x.yaml:"),
        ("x.json", b"[]", "x.json"),
        ("x.txt", b"hello", "x.txt"),
    ],
)
def test_a_broken_file_names_the_line_and_writes_nothing(
    fairtrial: Command, folder: Path, name: str, content: bytes, told: str
) -> None:
    (folder / name).write_bytes(content)
    done = fairtrial("dataset", "add", "d", name)
    assert done.code == ExitCode.USAGE
    assert told in done.err
    assert fairtrial("dataset", "list", "--json").json["versions"] == []


def test_a_missing_id_column_is_told_with_those_there_are(fairtrial: Command, folder: Path) -> None:
    (folder / "x.csv").write_text("nr,input\n1,a\n")
    done = fairtrial("dataset", "add", "d", "x.csv", "--id-column", "key")
    assert done.code == ExitCode.USAGE
    assert "key" in done.err
    assert "nr" in done.err


def test_bom_and_crlf_are_read(fairtrial: Command, folder: Path) -> None:
    (folder / "x.csv").write_bytes(b"\xef\xbb\xbfid,input\r\na,1\r\n")
    (folder / "y.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "b", "input": 2}\r\n')
    assert added(fairtrial, "d", "x.csv", "y.jsonl")["n_cases"] == 2


@pytest.mark.parametrize("count", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_many_cases_are_stored_and_listed(fairtrial: Command, folder: Path, count: int) -> None:
    write_cases(folder / "many.jsonl", count)
    version = added(fairtrial, "many", "many.jsonl")
    assert version["n_cases"] == count
    shown = fairtrial("dataset", "show", "many", "--case", f"c{count - 1}", "--json").json
    assert shown["cases"][0]["input"] == count - 1
