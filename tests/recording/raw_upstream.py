"""An upstream that answers with given bytes, cut as given; and what it received."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Self


class RawUpstream:
    """Answers each request on a connection with the next script: pieces of bytes.

    A script that ends with `None` closes the connection after it, one that ends with `HANG` leaves
    it open without a further word until the client leaves.
    """

    HANG = b"\0hang"

    def __init__(self, *scripts: Sequence[bytes | None], tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._scripts = list(scripts)
        self.received: list[bytes] = []
        self.left = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(10)
            try:
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                while self._scripts and self._one(connection):
                    pass
            except OSError:
                self.left.set()
            finally:
                connection.close()

    def _one(self, connection: socket.socket) -> bool:
        request = self._request(connection)
        if not request:
            return False
        self.received.append(request)
        for piece in self._scripts.pop(0):
            if piece is None:
                return False
            if piece == self.HANG:
                while connection.recv(65536):
                    pass
                self.left.set()
                return False
            connection.sendall(piece)
        return True

    def _request(self, connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return b""
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        fields = head.lower()
        if b"\r\nexpect: 100-continue" in fields:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if b"\r\ntransfer-encoding: chunked" in fields:
            while not body.endswith(b"0\r\n\r\n"):
                body += connection.recv(65536)
        elif b"\r\ncontent-length: " in fields:
            length = int(fields.split(b"\r\ncontent-length: ")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += connection.recv(1 << 20)
        return head + b"\r\n\r\n" + body
