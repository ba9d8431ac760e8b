"""Why no answer came over the network, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

import aiohttp

from fairtrial.providers.http_trouble import Circumstances


@dataclass(frozen=True, slots=True)
class Limits:
    """How long an answer may take.

    Attributes:
        whole_s: Seconds for all of it.
        idle_s: Seconds without a byte of a stream.
    """

    whole_s: float
    idle_s: float


def why(error: aiohttp.ClientError | OSError, about: Circumstances, limits: Limits) -> str:
    """Return what an exception of the network means for a call."""
    address = about.address
    check = f"check 'base_url' or {about.base_variable}, and the network"
    match error:
        case TimeoutError():
            return _late(error, address, limits, check)
        case aiohttp.ClientSSLError() | aiohttp.ServerFingerprintMismatch():
            fix = "check http or https in 'base_url', and the certificate (SSL_CERT_FILE)"
            reason = f"no secure connection to {address}: {_detail(error)}; {fix}"
        case aiohttp.ClientConnectorDNSError():
            reason = f"the name of {address} cannot be looked up: {_detail(error)}; {check}"
        case aiohttp.ClientConnectorError():
            fix = f"is the server running? {check}"
            reason = f"cannot connect to {address}: {_detail(error)}; {fix}"
        case aiohttp.ClientPayloadError():
            reason = f"the connection to {address} broke in the middle of the answer; try again"
        case _:
            reason = f"the connection to {address} broke: {_detail(error)}; try again"
    return reason


def _late(error: TimeoutError, address: str, limits: Limits, check: str) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection to {address} in time; {check}"
    if isinstance(error, aiohttp.SocketTimeoutError):
        fix = "try again, or raise the limit"
        return f"{address} sent nothing for {limits.idle_s:g} s ('idle_timeout_s'); {fix}"
    limit = f"{limits.whole_s:g} s ('timeout_s')"
    return f"no whole answer from {address} within {limit}; raise the limit, or {check}"


def _detail(error: aiohttp.ClientError | OSError) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    if isinstance(error, aiohttp.ClientConnectorError):
        return str(error.os_error.strerror or error.os_error)
    return f"{type(error).__name__}: {error}".removesuffix(": ")
