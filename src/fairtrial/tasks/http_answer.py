"""What an HTTP response means: an output, or which kind of problem."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import msgspec

from fairtrial.model.errors import TaskError, TrialProblem
from fairtrial.model.json import Json
from fairtrial.model.task import TaskResult
from fairtrial.model.wording import excerpt
from fairtrial.schema.json_pointer import LeadsNowhereError, resolve_pointer
from fairtrial.tasks.envelope import read_envelope
from fairtrial.tasks.provider_trouble import infra_error


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
    return infra_error(status, reason, response.retry_after, response.date) or TaskError(reason)


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
    except LeadsNowhereError as error:
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
        text = response.body.decode(charset)
        text.encode()  # a few charsets have half surrogate pairs, which no store or JSON holds
    except UnicodeDecodeError as error:
        byte = response.body[error.start]
        raise TaskError(
            f"the response is not {charset}: byte 0x{byte:02x} at offset {error.start}"
        ) from None
    except UnicodeError as error:
        raise TaskError(f"the response is not {charset}: {error}") from None
    except LookupError:
        raise TaskError(f"the response has an unknown charset {charset!r}") from None
    return text
