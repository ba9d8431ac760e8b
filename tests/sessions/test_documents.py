"""From a document to its records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fairtrial.model.json import Json
from fairtrial.sessions import documents
from fairtrial.sessions.documents import Document, decoded, mended

WHOLE = {"id": "x", "messages": [{"a": 'b,]}"\\'}, {"c": [1, 2]}, {"d": None}]}
TEXT = json.dumps(WHOLE)


def split(document: Mapping[str, Json]) -> Iterator[Json]:
    yield {"id": document.get("id")}
    messages = document.get("messages")
    yield from messages if isinstance(messages, list) else ()


def read(path: Path) -> list[bytes | None]:
    return [line.data for line in Document(str(path), split).lines(0)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_document_is_its_records(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(TEXT, encoding=encoding)
    found = [json.loads(line or b"") for line in read(path)]
    assert found == [{"id": "x"}, *WHOLE["messages"]]


def test_one_that_breaks_off_anywhere_brings_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    counts = []
    for end in range(1, len(TEXT)):
        path.write_text(TEXT[:end])
        *found, last = read(path)
        assert last == b"?"
        records = [json.loads(line or b"") for line in found]
        assert records[1:] == WHOLE["messages"][: len(records) - 1] or len(records) == 0
        counts.append(len(records))
    assert counts == sorted(counts)
    assert counts[-1] == 4


@pytest.mark.parametrize("content", [b"[1]", b"7", b"{", b"}{", b"\xff\xfe\x00", b"[" * 100_000])
def test_what_is_no_document_is_one_bad_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    assert read(path) == [b"?"]


def test_an_empty_one_has_no_records(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b" \n\0")
    assert read(path) == []


def test_numbers_that_nobody_has_are_no_trouble(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"id": NaN, "messages": [{"n": 1' + "0" * 400 + '}, {"s": "\\ud800"}]}')
    assert len(read(path)) == 3


def test_one_that_is_too_long_is_clipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "LONGEST_DOCUMENT", 10)
    path = tmp_path / "x.json"
    path.write_text(TEXT)
    assert read(path) == [None]


def test_what_was_hashed_is_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(TEXT)
    document = Document(str(path), split)
    before = document.tail(0)
    path.write_text("{}")
    assert len(list(document.lines(0))) == 4
    assert document.tail(0) == before != Document(str(path), split).tail(0)


def test_garbage_in_the_middle_ends_the_document() -> None:
    text = '{"id": "x", "messages": [{"a": 1}, {"b" 2}, {"c": 3}]}'
    found, whole = decoded(text.encode())
    assert (found, whole) == ({"id": "x", "messages": [{"a": 1}]}, False)


def test_brackets_that_do_not_fit_end_it() -> None:
    assert mended('{"a": 1, "b": [2}') == '{"a": 1}'
    assert mended("nothing") is None
