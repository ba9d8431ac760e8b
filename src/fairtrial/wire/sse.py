"""Server-sent events: a stream of bytes, cut anywhere, as its events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event.

    Attributes:
        name: Its `event` field; empty when it has none.
        data: Its `data` lines, joined by line feeds.
    """

    name: str
    data: bytes


class SseSplitter:
    """Turns the bytes of a stream into events (HTML living standard, section 9.2).

    Line ends are LF, CR or CRLF; comments, `id` and `retry` are skipped.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._name = ""
        self._data: list[bytes] = []
        self._first_line = True
        self._after_return = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that end in this chunk."""
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a CRLF
        self._after_return = chunk.endswith(b"\r") if chunk else self._after_return
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if not cut:
            self._pieces.append(chunk)
            return []
        lines = b"".join([*self._pieces, chunk[:cut]]).splitlines()
        self._pieces = [chunk[cut:]]
        return [event for line in lines if (event := self._line(line)) is not None]

    def end(self) -> list[SseEvent]:
        """Return the event that the end of the stream cut the blank line off, if there is one.

        The standard drops it; a few servers end so, and what is in it is whole or is no JSON.
        """
        rest = b"".join(self._pieces)
        self._pieces = []
        events = [self._line(rest) if rest else None, self._line(b"")]
        return [event for event in events if event is not None]

    def _line(self, line: bytes) -> SseEvent | None:
        if self._first_line:
            self._first_line = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatched()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _dispatched(self) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        return SseEvent(name, b"\n".join(data)) if data else None
