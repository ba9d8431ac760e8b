"""Connections to upstreams: direct, or through the proxy that the environment names."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
from urllib.parse import SplitResult, unquote, urlsplit

from fairtrial.recording.routing import Origin

CONNECT_S = 15.0


class TunnelError(OSError):
    """A proxy on the way does not let the connection through."""


async def connect(protocol: asyncio.Protocol, origin: Origin, tls: ssl.SSLContext | None) -> None:
    """Connect a protocol to an upstream.

    Raises:
        OSError: it cannot be reached, TLS fails, or a proxy on the way refuses.
        TimeoutError: it takes too long.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_S):
        if origin.via is not None and origin.tls and tls is not None:
            await _through(origin.via, protocol, origin, tls)
            return
        await loop.create_connection(
            lambda: protocol,
            origin.host,
            origin.port,
            ssl=tls if origin.tls else None,
            server_hostname=origin.host if origin.tls else None,
        )


async def _through(
    via: str, protocol: asyncio.Protocol, origin: Origin, tls: ssl.SSLContext
) -> None:
    proxy = urlsplit(via if "://" in via else f"http://{via}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise TunnelError(f"proxies like {proxy.scheme}://… are not spoken to")
    loop = asyncio.get_running_loop()
    transport, handshake = await loop.create_connection(
        lambda: _Handshake(loop.create_future()), proxy.hostname, proxy.port or 80
    )
    try:
        transport.write(_tunnel_request(proxy, origin))
        await handshake.done
        secured = await loop.start_tls(transport, protocol, tls, server_hostname=origin.host)
    except BaseException:
        transport.abort()
        raise
    if secured is None:
        raise TunnelError(f"the proxy {proxy.hostname} closed the connection")
    protocol.connection_made(secured)


def _tunnel_request(proxy: SplitResult, origin: Origin) -> bytes:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    target = f"{host}:{origin.port}"
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.username is not None:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(login).decode()}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class _Handshake(asyncio.Protocol):
    """Reads what a proxy answers to CONNECT."""

    def __init__(self, done: asyncio.Future[None]) -> None:
        self.done = done
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        if b"\r\n\r\n" not in self._received or self.done.done():
            return
        status = self._received.split(b"\r\n", 1)[0].decode("latin-1")
        if status.split(" ")[1:2] == ["200"]:
            self.done.set_result(None)
        else:
            self.done.set_exception(TunnelError(f"the proxy on the way answered {status!r}"))

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            why = "" if error is None else f" ({error})"
            self.done.set_exception(TunnelError(f"the proxy on the way hung up{why}"))


def reason(error: Exception) -> str:
    """Return in a few words why there is no connection."""
    if isinstance(error, TimeoutError):
        return f"no connection within {CONNECT_S:.0f} s"
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason or error})"
    return f"no connection ({error})"
