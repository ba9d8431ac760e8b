"""What is a provider's or the network's trouble, and no fault of the task."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import Any, Final

from fairtrial.model.errors import InfraError
from fairtrial.wire.retry_after import seconds_to_wait

_LOGIN: Final = (401, 403, 407)
_NETWORK: Final = (ConnectionError, TimeoutError, socket.gaierror, ssl.SSLError)


def infra_error(
    status: int, reason: str, retry_after: str | None, date: str | None
) -> InfraError | None:
    """Return the trouble that an HTTP status tells of; None when it is the task's fault.

    Args:
        status: The status code.
        reason: What to say of it.
        retry_after: The response's Retry-After header.
        date: Its Date header.
    """
    if status in _LOGIN:
        return InfraError(reason, kind="login")
    if status not in (408, 429) and status < 500:
        return None
    kind = "rate_limit" if status == 429 else "server"
    return InfraError(reason, kind=kind, retry_after=seconds_to_wait(retry_after, date))


def infra_error_of(error: BaseException, reason: str) -> InfraError | None:
    """Return an exception of a user's function as trouble of the world; None when it is none.

    Client libraries have no base class in common; but their exceptions carry the status of the
    response as `status_code`, themselves or in their `response`.

    Args:
        error: What the function raised.
        reason: What to say of it.
    """
    if isinstance(error, _NETWORK):
        return InfraError(reason, kind="network")
    response = _attribute(error, "response")
    for status in (_attribute(error, "status_code"), _attribute(response, "status_code")):
        if isinstance(status, int):
            retry_after, date = _header(response, "retry-after"), _header(response, "date")
            return infra_error(status, reason, retry_after, date)
    return None


def _header(response: Any, name: str) -> str | None:
    headers = _attribute(response, "headers")
    if not isinstance(headers, Mapping):
        return None
    return next((str(value) for key, value in headers.items() if str(key).lower() == name), None)


def _attribute(thing: Any, name: str) -> Any:
    try:
        return getattr(thing, name, None)
    except Exception:  # noqa: BLE001  # a property of someone else's class
        return None
