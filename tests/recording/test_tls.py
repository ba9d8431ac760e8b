"""Upstreams over TLS, directly and through a proxy of the network."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.recording.conftest import Start
from tests.recording.raw_upstream import RawUpstream
from tests.recording.test_proxy_wire import OK, post

from fairtrial.recording.routing import upstreams_of

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="needs the program openssl, to make a certificate"
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
        ],
        check=True,
        capture_output=True,
    )
    return key, certificate


@pytest.fixture
def secure(certificate: tuple[Path, Path]) -> Iterator[RawUpstream]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate[1], certificate[0])
    with RawUpstream([OK], [OK], tls=context) as upstream:
        upstream.url = upstream.url.replace("http://127.0.0.1", "https://localhost")
        yield upstream


class Tunnel:
    """A proxy of the network: it takes CONNECT and copies bytes."""

    def __init__(self, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n") -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://user:pass@127.0.0.1:{self._listener.getsockname()[1]}"
        self.head = b""
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        with client:
            while b"\r\n\r\n" not in self.head:
                self.head += client.recv(65536)
            client.sendall(self._answer)
            if b" 200 " not in self._answer:
                return
            port = int(self.head.split(b" ")[1].rpartition(b":")[2])
            with socket.create_connection(("127.0.0.1", port)) as upstream:
                back = threading.Thread(target=copy, args=(upstream, client), daemon=True)
                back.start()
                copy(client, upstream)
                back.join()

    def close(self) -> None:
        self._listener.close()
        self._thread.join(10)


def copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_an_upstream_over_tls_is_checked_and_recorded(
    start: Start,
    secure: RawUpstream,
    certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    proxy = start(secure.url)
    assert proxy.send(post()) == OK
    call, _ = proxy.one()
    assert (call.status, call.upstream) == (200, secure.url)


def test_a_certificate_of_nobody_is_refused(start: Start, secure: RawUpstream) -> None:
    proxy = start(secure.url)
    assert b"TLS failed (CERTIFICATE_VERIFY_FAILED)" in proxy.send(post())
    call, _ = proxy.one()
    assert call.status is None


def test_a_proxy_of_the_network_is_gone_through(
    start: Start,
    secure: RawUpstream,
    certificate: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[1]))
    tunnel = Tunnel()
    try:
        proxy = start(secure.url, environ={"HTTPS_PROXY": tunnel.url})
        assert proxy.send(post()) == OK
        assert proxy.one()[0].status == 200
    finally:
        tunnel.close()
    assert tunnel.head.startswith(b"CONNECT localhost:")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz\r\n" in tunnel.head


def test_a_proxy_that_refuses_is_told(start: Start, secure: RawUpstream) -> None:
    tunnel = Tunnel(b"HTTP/1.1 407 Who are you?\r\n\r\n")
    try:
        proxy = start(secure.url, environ={"https_proxy": tunnel.url})
        assert b"407 Who are you?" in proxy.send(post())
    finally:
        tunnel.close()


def test_what_is_excepted_from_proxies_is_reached_directly() -> None:
    environ = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "api.openai.com"}
    upstreams = upstreams_of(environ)
    assert upstreams.anthropic.via == "http://proxy:3128"
    assert upstreams.openai.via is None
