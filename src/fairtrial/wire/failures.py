"""What an API says when it gives no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairtrial.model.json import Json
from fairtrial.model.wording import excerpt
from fairtrial.wire.json_text import NoJsonError, read_json

_MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error in an API's own words.

    Attributes:
        message: What it says.
        type: Its type, e.g. `invalid_request_error`; empty when it names none.
        code: Its code, e.g. `insufficient_quota`; empty when it names none.
    """

    message: str
    type: str = ""
    code: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Type and code, whichever the API uses for what."""
        return frozenset({self.type, self.code}) - {""}


class MalformedAnswerError(Exception):
    """An answer is not what its API promises; `str()` says in what."""


class FailedAnswerError(Exception):
    """An answer, or the stream of one, is an error.

    Attributes:
        error: The error.
    """

    def __init__(self, error: ApiError) -> None:
        super().__init__(error.message)
        self.error = error


def read_error(body: bytes) -> ApiError:
    """Return what the body of an error response says, in any of the forms that servers use."""
    try:
        document = read_json(body)
    except NoJsonError:
        return ApiError(excerpt(body, _MOST_SHOWN))
    return error_of(document) or ApiError(excerpt(body, _MOST_SHOWN))


def error_of(document: Json) -> ApiError | None:
    """Return the error that a JSON document holds; None when it holds none."""
    if isinstance(document, list) and document:
        document = document[0]  # Google's compatible API wraps its errors in a list
    if not isinstance(document, Mapping):
        return None
    given = document.get("error")
    if isinstance(given, str) and given:
        return ApiError(excerpt(given, _MOST_SHOWN), _text(document, "type"))
    if isinstance(given, Mapping):
        message = _text(given, "message") or excerpt(str(dict(given)), _MOST_SHOWN)
        return ApiError(
            excerpt(message, _MOST_SHOWN),
            _text(given, "type") or _text(given, "status"),
            _text(given, "code"),
        )
    message = _text(document, "message") or _text(document, "detail")
    if not message:
        return None
    kind = _text(document, "type")
    return ApiError(excerpt(message, _MOST_SHOWN), kind, _text(document, "code"))


def _text(holder: Mapping[str, Json], key: str) -> str:
    value = holder.get(key)
    if isinstance(value, bool) or value is None:
        return ""
    return str(value) if isinstance(value, str | int | list | dict) else ""
