"""Lines of files that are being written, torn, packed, or of another encoding."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from fairtrial.sessions import lines as module
from fairtrial.sessions.lines import cleaned, lines, tail_hash


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return path


def of(path: Path, offset: int = 0) -> list[tuple[bytes | None, int]]:
    return [(line.data, line.end) for line in lines(path, offset)]


def test_a_part_of_a_last_line_waits(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":')
    assert of(path) == [(b'{"a":1}', 8)]
    with path.open("ab") as file:
        file.write(b"2}\n")
    assert of(path, 8) == [(b'{"b":2}', 16)]


def test_a_whole_object_needs_no_line_end(tmp_path: Path) -> None:
    assert of(written(tmp_path, b'{"a":1}\n{"b":2}')) == [(b'{"a":1}', 8), (b'{"b":2}', 15)]


def test_other_separators_of_lines_are_text(tmp_path: Path) -> None:
    data = '{"a":"x\u2028y\x0c\x85"}\r\n'.encode()
    assert of(written(tmp_path, data)) == [(data[:-1], len(data))]


def test_a_line_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 100)
    monkeypatch.setattr(module, "_BLOCK", 64)
    data = b"a\n" + b"x" * 1_000 + b"\nb\n"
    assert of(written(tmp_path, data)) == [(b"a", 2), (None, 1_003), (b"b", 1_005)]


def test_a_packed_file_is_read_and_its_offset_is_that_of_the_file(tmp_path: Path) -> None:
    packed = zstandard.compress(b'{"a":1}\n{"b":2}\n')
    assert of(written(tmp_path, packed)) == [(b'{"a":1}', len(packed)), (b'{"b":2}', len(packed))]


def test_what_is_lost_of_a_packed_file_is_one_bad_line(tmp_path: Path) -> None:
    broken = b"\x28\xb5\x2f\xfd" + b"\xff" * 100
    path = written(tmp_path, zstandard.compress(b'{"a":1}\n') + broken)
    assert of(path)[-1][0] == b"\0"


def test_a_file_in_utf_16_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a":"ü"}\n'.encode("utf-16"))
    assert [data for data, _ in of(path)] == ['{"a":"ü"}'.encode()]


def test_marks_around_a_record_are_taken_off() -> None:
    assert cleaned(b"\0\0\xef\xbb\xbf{}\r") == b"{}"


def test_the_hash_of_a_tail_tells_another_file(tmp_path: Path) -> None:
    path = written(tmp_path, b"a" * 1_000)
    before = tail_hash(path, 900)
    path.write_bytes(b"a" * 899 + b"b" * 200)
    assert tail_hash(path, 900) != before


@given(st.lists(st.binary(max_size=40).filter(lambda part: b"\n" not in part)), st.integers(1, 9))
def test_lines_put_together_are_the_file(parts: list[bytes], block: int) -> None:
    import tempfile  # noqa: PLC0415  # hypothesis and tmp_path do not go together

    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_BLOCK", block)
        data = b"".join(part + b"\n" for part in parts)
        path = Path(folder) / "f"
        path.write_bytes(data)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] == b"\x28\xb5\x2f\xfd":
            return
        found = of(path)
    assert [one for one, _ in found] == parts
