"""Where a server listens."""

from __future__ import annotations

import socket

from fairtrial.model.errors import UsageError


def listening_on(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    Raises:
        UsageError: the address cannot be had.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(512)
        except BaseException:
            listening.close()
            raise
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"cannot listen on {host}:{port}",
            where="--host, --port",
            why=getattr(error, "strerror", None) or str(error),
            fix="another program may have the port; --port 0 takes any that is free",
        ) from None
    return listening


def url_of(host: str, port: int) -> str:
    """Return the address that a person of this machine types for it."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104  # compared with
    return (
        f"http://[{shown}]:{port}"
        if ":" in shown.strip("[]") and shown[0] != "["
        else f"http://{shown}:{port}"
    )
