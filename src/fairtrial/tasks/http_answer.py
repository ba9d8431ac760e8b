"""What an HTTP response means: an output, or which kind of problem."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import msgspec

from fairtrial.model.errors import InfraError, TaskError, TrialProblem
from fairtrial.model.json import Json
from fairtrial.model.task import TaskResult
from fairtrial.tasks.envelope import read_envelope
from fairtrial.tasks.json_pointer import resolve_pointer
from fairtrial.tasks.wording import excerpt

_LOGIN: Final = (401, 403, 407)
_TRY_AGAIN: Final = (408, 429)
_SERVER_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response, read to its end.

    Attributes:
        status: Its status code.
        media_type: Its content type without parameters.
        charset: The charset it names, if it does.
        body: Its decompressed body.
        retry_after: Its Retry-After header.
        date: Its Date header.
    """

    status: int
    media_type: str
    charset: str | None
    body: bytes
    retry_after: str | None = None
    date: str | None = None

    @property
    def is_json(self) -> bool:
        """Whether its content type says JSON."""
        return self.media_type == "application/json" or self.media_type.endswith("+json")


def problem_of(response: Response, request: str) -> TrialProblem | None:
    """Return the problem that a status stands for; None for 2xx.

    Args:
        response: The response.
        request: The method and URL as the user wrote them, without what was substituted.
    """
    status = response.status
    if 200 <= status < 300:
        return None
    reason = f"HTTP {status} from {request}: {excerpt(response.body)}"
    if status in _LOGIN:
        return InfraError(reason, kind="login")
    if status in _TRY_AGAIN or status >= _SERVER_ERROR:
        wait = seconds_to_wait(response.retry_after, response.date)
        return InfraError(
            reason, kind="rate_limit" if status == 429 else "server", retry_after=wait
        )
    return TaskError(reason)


def seconds_to_wait(retry_after: str | None, date: str | None) -> float | None:
    """Return what a Retry-After header asks for, in seconds; None when it says nothing usable.

    Args:
        retry_after: Seconds, or an HTTP date.
        date: The response's Date header; against it an HTTP date needs no synchronous clocks.
    """
    if retry_after is None:
        return None
    try:
        seconds = float(retry_after)
    except ValueError:
        until, now = _moment(retry_after), _moment(date or "") or datetime.now(UTC)
        return None if until is None else max(0.0, (until - now).total_seconds())
    return seconds if 0 <= seconds < float("inf") else None


def result_of(response: Response, pointer: tuple[str, ...] | None, *, envelope: bool) -> TaskResult:
    """Return what a successful response brought.

    Args:
        response: The response.
        pointer: Which part of the JSON body is the output; None takes the whole body.
        envelope: Whether the body is an envelope.

    Raises:
        TaskError: the body is not what it should be.
    """
    if envelope:
        return read_envelope(_json_data(response), "the response")
    if pointer is None and not response.is_json:
        return TaskResult(_text(response))
    document = _json(response)
    try:
        return TaskResult(resolve_pointer(document, pointer or ()))
    except LookupError as error:
        raise TaskError(
            f"the response has no output: {error}; it begins: {excerpt(response.body)}"
        ) from None


def _json(response: Response) -> Json:
    try:
        return msgspec.json.decode(_json_data(response))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TaskError(
            f"the response is not valid JSON: {error}; it begins: {excerpt(response.body)}"
        ) from None


def _json_data(response: Response) -> bytes | str:
    # JSON is UTF-8; a few servers still send another charset and say so, or a byte order mark.
    if (response.charset or "utf-8").lower() in ("utf-8", "utf8", "us-ascii"):
        return response.body.removeprefix(codecs.BOM_UTF8)
    return _text(response)


def _text(response: Response) -> str:
    charset = response.charset or "utf-8"
    try:
        return response.body.decode(charset)
    except UnicodeDecodeError as error:
        byte = response.body[error.start]
        raise TaskError(
            f"the response is not {charset}: byte 0x{byte:02x} at offset {error.start}"
        ) from None
    except LookupError:
        raise TaskError(f"the response has an unknown charset {charset!r}") from None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
