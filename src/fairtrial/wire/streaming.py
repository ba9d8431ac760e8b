"""Reading the stream of an answer while it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fairtrial.model.call import ModelReply
from fairtrial.model.json import Json
from fairtrial.model.task import Tokens
from fairtrial.model.wording import excerpt
from fairtrial.wire.failures import MalformedAnswerError
from fairtrial.wire.json_text import NoJsonError, read_json
from fairtrial.wire.sse import SseEvent, SseSplitter

DONE = b"[DONE]"


class StreamReader(ABC):
    """Puts an answer together from the events of its stream.

    Attributes:
        started: The first words, or the first tool, came.
        ended: The API said that nothing follows.
    """

    def __init__(self) -> None:
        self.started = False
        self.ended = False
        self._splitter = SseSplitter()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes.

        Raises:
            FailedAnswerError: the stream tells of an error.
            MalformedAnswerError: an event is no JSON.
        """
        for event in self._splitter.feed(chunk):
            self._take(event)

    def finish(self) -> None:
        """Take it that the stream ended.

        Raises:
            FailedAnswerError, MalformedAnswerError: as for `feed`.
        """
        for event in self._splitter.end():
            self._take(event)

    @property
    @abstractmethod
    def whole(self) -> bool:
        """Whether there is an answer: why it ended is known."""

    @property
    @abstractmethod
    def tokens(self) -> Tokens | None:
        """Usage as far as it was told; None when nothing was."""

    @abstractmethod
    def reply(self) -> ModelReply:
        """Return the answer.

        Raises:
            FailedAnswerError: it is an error.
            MalformedAnswerError: it is not whole.
        """

    @abstractmethod
    def _event(self, kind: str, data: dict[str, Json]) -> None:
        """Take one event: the type that its data names, else its own name."""

    def _take(self, event: SseEvent) -> None:
        if self.ended:
            return
        if event.data.strip() == DONE:
            self.ended = True
            return
        try:
            data = read_json(event.data)
        except NoJsonError as error:
            shown = excerpt(event.data)
            raise MalformedAnswerError(f"an event is not valid JSON ({error}): {shown}") from None
        if not isinstance(data, dict):
            raise MalformedAnswerError(f"an event is no JSON object: {excerpt(event.data)}")
        kind = data.get("type")
        self._event(kind if isinstance(kind, str) else event.name, data)
