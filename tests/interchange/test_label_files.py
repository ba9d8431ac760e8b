"""Human labels are read as they are meant, or refused with file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairtrial.interchange.label_files import read_human_labels, read_winner_labels
from fairtrial.model.errors import FairtrialError, NotFoundError, UsageError
from fairtrial.model.label import HumanLabel, WinnerLabel

Read = Callable[[Path], tuple[Any, ...]]


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "labels"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_an_array_and_lines_say_the_same(tmp_path: Path) -> None:
    labels = [
        {"caseId": "a", "value": "pass"},
        {"caseId": "b", "value": "fail", "criterion": "tone"},
        {"case_id": "c", "value": "skip", "condition": "attack"},
    ]
    lines = "\n\n".join(json.dumps(label) for label in labels)
    for text, places in (
        (json.dumps(labels, indent=1), (2, 6, 11)),
        ("\ufeff" + lines, (1, 3, 5)),
        (lines.replace("\n", "\r\n"), (1, 3, 5)),
    ):
        path = written(tmp_path, text)
        assert read_human_labels(path) == (
            HumanLabel("a", None, "pass", None, f"{path}:{places[0]}"),
            HumanLabel("b", None, "fail", "tone", f"{path}:{places[1]}"),
            HumanLabel("c", "attack", "skip", None, f"{path}:{places[2]}"),
        )


def test_winners(tmp_path: Path) -> None:
    path = written(tmp_path, '[{"caseId": "a", "winner": "b"},\n {"caseId": "b", "winner": "tie"}]')
    assert read_winner_labels(path) == (
        WinnerLabel("a", None, "b", f"{path}:1"),
        WinnerLabel("b", None, "tie", f"{path}:2"),
    )


def test_one_case_may_have_a_label_for_each_criterion_and_condition(tmp_path: Path) -> None:
    labels: list[dict[str, str]] = [
        {"caseId": "a", "value": "pass"},
        {"caseId": "a", "value": "pass", "criterion": "x"},
        {"caseId": "a", "value": "pass", "condition": "attack"},
    ]
    assert len(read_human_labels(written(tmp_path, json.dumps(labels)))) == 3


GOOD = '{"caseId": "a", "value": "pass"}'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file holds no labels"),
        ("[]", None, "the file holds no labels"),
        (f"{GOOD}\n{GOOD}", 2, "'a' is labelled twice"),
        (f"[{GOOD},\n\n{GOOD}]", 3, "'a' is labelled twice"),
        (f'{GOOD}\n{{"caseId": "b", "value": "good"}}', 2, "got 'good'"),
        (f'{GOOD}\n{{"caseId": "b", "value": true}}', 2, "'value' must be one of"),
        (f'{GOOD}\n{{"caseId": "b", "value": ["pass"]}}', 2, "'value' must be one of"),
        (f'{GOOD}\n{{"caseId": "b", "value": NaN}}', 2, "the label is not JSON"),
        (f'[{GOOD},\n{{"caseId": "b",\n"value": NaN}}]', 1, "the file is not JSON"),
        ('{"caseId": "b"}', 1, "the label has no 'value'"),
        ('{"value": "pass"}', 1, "needs one 'caseId'"),
        ('{"caseId": 7, "value": "pass"}', 1, "needs one 'caseId'"),
        ('{"caseId": "", "value": "pass"}', 1, "needs one 'caseId'"),
        ('{"caseId": "a", "case_id": "a", "value": "pass"}', 1, "needs one 'caseId'"),
        ('{"caseId": "a", "value": "pass", "criterion": ""}', 1, "'criterion' must be a text"),
        ('{"caseId": "a", "value": "pass", "critrion": "x"}', 1, "did you mean 'criterion'"),
        ("[1]", 1, "a label must be an object, this is a number"),
        ("7", 1, "a label must be an object"),
        ("[", 1, "the file is not JSON"),
        (b"\xff", 1, "the label is not JSON"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, text: str | bytes, line: int | None, message: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError, match=message) as caught:
        read_human_labels(path)
    place = str(path) if line is None else f"{path}:{line}"
    if "NaN" not in str(text) or not str(text).startswith("["):
        assert caught.value.where == place


@pytest.mark.parametrize("read", [read_human_labels, read_winner_labels])
def test_a_file_that_is_not_there(tmp_path: Path, read: Read) -> None:
    with pytest.raises(NotFoundError):
        read(tmp_path / "none")
    with pytest.raises(FairtrialError, match="cannot be read"):
        read(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(FairtrialError, match="cannot be read"):
        read(loop)


def test_a_file_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairtrial.interchange.label_files._LARGEST", 10)
    with pytest.raises(UsageError, match="more than 10 bytes"):
        read_winner_labels(written(tmp_path, '{"caseId": "a", "winner": "a"}'))


def test_winners_that_are_wrong(tmp_path: Path) -> None:
    for label, message in (
        ({"caseId": "a", "winner": "B"}, "got 'B'"),
        ({"caseId": "a", "value": "pass"}, "unknown 'value'"),
        ({"caseId": "a", "winner": "x" * 100}, "x…"),
    ):
        with pytest.raises(UsageError, match=message):
            read_winner_labels(written(tmp_path, json.dumps(label)))
    twice = '{"caseId": "a", "winner": "a"}\n{"caseId": "a", "winner": "b"}'
    with pytest.raises(UsageError, match="labelled twice"):
        read_winner_labels(written(tmp_path, twice))
