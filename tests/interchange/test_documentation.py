"""The examples of the reference are read and written as it says."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from fairtrial.interchange.dataset_files.columns import Columns
from fairtrial.interchange.dataset_files.reading import read_cases

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    ("language", "suffix", "expected"),
    [
        ("json", "jsonl", [4, "Paris"]),
        ("csv", "csv", [4, "Paris"]),
        ("yaml", "yaml", [4, "no"]),
    ],
)
def test_dataset_examples(
    language: str, suffix: str, expected: list[object], tmp_path: Path
) -> None:
    path = tmp_path / f"example.{suffix}"
    path.write_text(blocks("datasets.md", language)[0])
    assert [case.expected for case in read_cases([path])] == expected


def test_every_column_option_is_documented() -> None:
    text = (DOCS / "datasets.md").read_text()
    for field in dataclasses.fields(Columns):
        option = "--extra" if field.name == "extra" else f"--{field.name}-column"
        assert option in text


def test_every_key_of_a_trial_is_documented() -> None:
    text = (DOCS / "exports.md").read_text()
    example = json.loads(blocks("exports.md", "json")[0])
    for key in (*example, *example["scores"][0]):
        assert f"`{key}`" in text
