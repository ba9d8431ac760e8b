"""A stream of bytes, cut anywhere, gives the same events."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fairtrial.wire.sse import SseEvent, SseSplitter

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n"
    b"event: first\r\n"
    b'data: {"a":\r\n'
    b"data:  1}\r\n"
    b"\r\n"
    b"id: 7\nretry: 10\n"
    b"data:no space\n\n"
    b"event: without data\n\n"
    b"data\rdata: old ends\r\r"
    b"\n\ndata: \xc3\xbc\n\n"
)
EVENTS = [
    SseEvent("first", b'{"a":\n 1}'),
    SseEvent("", b"no space"),
    SseEvent("", b"\nold ends"),
    SseEvent("", "ü".encode()),
]


def split(chunks: list[bytes]) -> list[SseEvent]:
    splitter = SseSplitter()
    return [event for chunk in chunks for event in splitter.feed(chunk)] + splitter.end()


def test_an_event_is_its_name_and_its_data_lines() -> None:
    assert split([STREAM]) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_where_it_is_cut_does_not_matter(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[start:end] for start, end in pairwise(places)]
    assert split(chunks) == EVENTS


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_any_bytes_are_split_alike_in_one_piece_and_in_many(chunks: list[bytes]) -> None:
    assert split(chunks) == split([b"".join(chunks)])


def test_an_event_without_its_blank_line_comes_at_the_end() -> None:
    splitter = SseSplitter()
    assert splitter.feed(b"data: [DONE]") == []
    assert splitter.end() == [SseEvent("", b"[DONE]")]
    assert splitter.end() == []


def test_a_long_line_in_many_pieces_takes_no_time() -> None:
    splitter = SseSplitter()
    for _ in range(20_000):
        assert splitter.feed(b"data: x" * 100) == []
    (event,) = splitter.feed(b"\n\n")
    assert len(event.data) == 20_000 * 700 - 6
