"""Plain rows: JSONL, arrays and tables, under all names that are in use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.interchange.results.reading import read
from tests.interchange.results.writers import jsonl

from fairtrial.interchange.results.contract import Asked
from fairtrial.interchange.results.recognising import recognise
from fairtrial.model.errors import FairtrialError


def test_names_that_are_in_use(tmp_path: Path) -> None:
    row = {
        "question": "q",
        "prediction": "p",
        "ground_truth": "g",
        "is_correct": "Yes",
        "model_name": "m",
        "epoch": 2,
        "latency_ms": 1500,
        "cost": "0.25",
        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
        "timestamp": 1_764_417_600_000,
        "score.f1": "0.5",
        "tags": "a; b",
    }
    (trial,) = read(jsonl(tmp_path / "r.jsonl", [row])).trials
    assert (trial.input, trial.output, trial.expected, trial.passed) == ("q", "p", "g", True)
    assert (trial.model, trial.trial, trial.duration_s, trial.cost_usd) == ("m", 2, 1.5, 0.25)
    assert trial.tokens is not None
    assert (trial.tokens.input, trial.tokens.output) == (3, 4)
    assert (trial.scores["f1"].value, list(trial.tags)) == (0.5, ["a", "b"])
    assert trial.started_at is not None
    assert trial.started_at.year == 2025


def test_a_table_is_the_same_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(
        'id,input,output,score.exact,passed,tokens\nx,"a, b","{no json",1,true,"{""input"": 3}"\n',
        encoding="utf-8",
    )
    (trial,) = read(path).trials
    assert (trial.id, trial.input, trial.output) == ("x", "a, b", "{no json")
    assert (trial.scores["exact"].value, trial.passed) == (1.0, True)
    assert trial.tokens is not None


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_tables_in_other_encodings(tmp_path: Path, separator: str, encoding: str) -> None:
    path = tmp_path / "r.csv"
    rows = [["id", "input", "score"], ["x", "gr\u00fc\u00df", "1"]]
    text = "".join(separator.join(row) + "\r\n" for row in rows)
    path.write_bytes(text.encode(encoding))
    found = read(path)
    assert (found.trials[0].input, found.trials[0].scores["score"].value) == ("gr\u00fc\u00df", 1)
    assert bool(found.notes) is (encoding == "cp1252")


def test_names_that_the_user_gives(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "r.jsonl", [{"frage": "q", "note": 0.5, "input": "not this"}])
    with pytest.raises(FairtrialError, match="nothing in this file"):
        recognise(jsonl(tmp_path / "s.jsonl", [{"frage": "q", "note": 1}]), Asked())
    found = read(path, Asked({"frage": "input", "note": "score"}))
    assert (found.trials[0].input, found.trials[0].scores["score"].value) == ("q", 0.5)
    assert found.notes == {"the key 'input'": 1}


def test_numbers_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        '{"id": "a", "score": NaN, "cost": -1}\n'
        '{"id": "b", "score": 1e400, "duration_s": "soon"}\n'
        '{"id": "c", "score": "high"}\n'
        '{"id": "d", "score": ' + "9" * 400 + "}\n"
        '{"id": "e", "score": ' + "9" * 5000 + "}\n",
        encoding="utf-8",
    )
    found = read(path)
    assert [trial.id for trial in found.trials] == ["a", "b", "c", "d"]
    assert all(trial.scores.get("score") is None or trial.scores["score"].value is None
               for trial in found.trials)  # fmt: skip
    assert all(trial.cost_usd is None and trial.duration_s is None for trial in found.trials)
    assert found.notes["rows that are no JSON"] == 1


def test_lines_in_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    row = json.dumps({"id": "a", "input": "gr\u00fc\u00df", "score": 1}, ensure_ascii=False)
    path.write_bytes((row + "\n").encode("utf-16"))
    assert read(path).trials[0].input == "gr\u00fc\u00df"
    path.write_bytes(b"\xef\xbb\xbf" + row.encode() + b"\n\n" + row.encode("latin-1") + b"\n")
    found = read(path)
    assert [trial.input for trial in found.trials] == ["gr\u00fc\u00df", "gr\ufffd\ufffd"]
    assert len(found.notes) == 1
    path.write_text('{"id": "a", "input": "\\ud800x", "score": 1}\n', encoding="utf-8")
    assert read(path).trials[0].input == "\ufffdx"


def test_an_array_is_read_as_well(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text('[\n {"id": 1, "score": 1},\n {"id": 2, "score": NaN}\n]', encoding="utf-8")
    assert [trial.id for trial in read(path).trials] == ["1", "2"]


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    for number, text in enumerate(
        ('{"input": 1}\n', "[]", "{}", "[1, 2]", '"x"', "null", "a,b\n1,2\n", "\0\0\0", "{" * 9_999)
    ):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FairtrialError):
            read(path)
    (tmp_path / "pipe").mkdir()
    with pytest.raises(FairtrialError):
        recognise(tmp_path / "pipe", Asked())
    with pytest.raises(FairtrialError, match="pipe or a device"):
        recognise(Path("/dev/zero"), Asked())
