"""What is written reads back equal, in every format."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fairtrial.interchange.dataset_files.columns import Format
from fairtrial.interchange.dataset_files.reading import read_cases
from fairtrial.interchange.dataset_files.writing import write_cases
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError
from fairtrial.model.json import canonical_json

AWKWARD = [
    "", " ", "007", "1e5", "-5", "-0", "1_000", "0x1f", "no", "True", "null", "~", "NaN", ".inf",
    "=1+1", "+x", "-x", "@cmd", "\t", "\r", "\n", "\r\n", "a\nb", "a\n\n", "\n a", " a\nb \n",
    "a: b", "# c", "- d", "'", '"', '""', ",", ";", "a,b", "[1]", "{}", "\x00", "\x07", "\x7f",
    "\x85", "\u2028", "\u2029", "\ufeff", "\ufffe", "\u202e", "😀", "é", "2024-05-01", "12:30",
    "<<", "=", "|", ">", "%", "`", "&a", "*a", "!t", "? q", "---", "...", "a" * 300, "x " * 200,
]  # fmt: skip
text = st.one_of(st.sampled_from(AWKWARD), st.text(st.characters(codec="utf-8"), max_size=30))
json_value = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        text,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)),
    max_leaves=8,
)
case = st.builds(
    Case,
    id=text.filter(bool),
    input=json_value,
    expected=json_value,
    metadata=st.dictionaries(text, json_value, max_size=3),
    tags=st.lists(text, max_size=3).map(tuple),
    split=st.none() | text.filter(bool),
    condition=st.just("default") | text.filter(bool),
)
cases = st.lists(case, min_size=1, max_size=4, unique_by=lambda one: one.key)
everything = Case(
    id="a\nb", input=AWKWARD, expected={key: key for key in AWKWARD},
    metadata={key: [key] for key in AWKWARD}, tags=tuple(AWKWARD), split=" ", condition="\t",
)  # fmt: skip


def _carries(file_format: Format, one: Case) -> bool:
    table = file_format in (Format.CSV, Format.TSV)
    return not (table and "\0" in one.id + (one.split or "") + one.condition)


@pytest.mark.parametrize("file_format", list(Format))
@given(cases)
@example([everything])
@example([Case(str(number), value, value) for number, value in enumerate(AWKWARD)])
@settings(deadline=None, max_examples=150)
def test_round_trip(file_format: Format, given_cases: list[Case]) -> None:
    given_cases = [one for one in given_cases if _carries(file_format, one)]
    if not given_cases:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"cases.{file_format}"
        assert write_cases(given_cases, path) == len(given_cases)
        read = list(read_cases([path]))
    assert read == given_cases
    # Equal is not enough: True == 1 == 1.0.
    assert [canonical_json(one.content()) for one in read] == [
        canonical_json(one.content()) for one in given_cases
    ]


@pytest.mark.parametrize("file_format", list(Format))
def test_a_stream_gets_the_same_text(file_format: Format, tmp_path: Path) -> None:
    path = tmp_path / f"cases.{file_format}"
    stream = io.StringIO(newline="")
    write_cases([everything], path)
    assert write_cases([everything], stream, file_format) == 1
    assert stream.getvalue().encode() == path.read_bytes()


@pytest.mark.parametrize("file_format", list(Format))
@pytest.mark.parametrize(
    "bad",
    [
        Case("a", "\ud800"),
        Case("\udc00", 1),
        Case("a", float("nan")),
        Case("a", 1, metadata={"x": float("inf")}),
        Case("a", {1, 2}),
        Case("", 1),
        Case("a", 1, split=""),
    ],
)
def test_what_no_file_can_carry_is_refused_and_no_file_is_left(
    file_format: Format, bad: Case, tmp_path: Path
) -> None:
    path = tmp_path / f"cases.{file_format}"
    path.write_text("before")
    with pytest.raises(UsageError):
        write_cases([Case("fine", 1), bad], path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("file_format", [Format.CSV, Format.TSV])
def test_nul_in_an_id_is_refused_in_tables(file_format: Format) -> None:
    with pytest.raises(UsageError, match="NUL"):
        write_cases([Case("a\0b", 1)], io.StringIO(), file_format)


def test_no_text_cell_of_a_table_starts_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    write_cases([Case("1", "=1+1", "@x"), Case("2", "-5", "+3.5")], path)
    _, first, second = path.read_text().splitlines()
    assert first == '1,,"""=1+1""",,"""@x""",,,,'
    assert second == "2,-5,,+3.5,,,,,"


def test_an_unwritable_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_cases([Case("a", 1)], tmp_path / "no" / "cases.csv")
    with pytest.raises(UsageError, match="suffix"):
        write_cases([Case("a", 1)], tmp_path / "cases.parquet")


def test_no_cases_make_an_empty_list(tmp_path: Path) -> None:
    for file_format, text in (("json", "[]\n"), ("yaml", "[]\n"), ("jsonl", "")):
        path = tmp_path / f"cases.{file_format}"
        assert write_cases([], path) == 0
        assert path.read_text() == text
