"""`fairtrial serve`, as a person uses it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.conftest import process
from tests.http.conftest import running

from fairtrial.app.bench import Bench
from fairtrial.cli.main import main


def test_it_tells_its_address_and_ends_with_ctrl_c(folder: Path) -> None:
    started = process("serve", "--port", "0", cwd=folder)
    assert started.stdout is not None
    assert started.stdout.readline().startswith("Serving on http://127.0.0.1:")
    assert started.stdout.readline() == "Ctrl-C ends it.\n"
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (0, "0 requests answered\n")
    assert "Traceback" not in err


def test_its_events_are_objects(folder: Path) -> None:
    started = process("serve", "--port", "0", "--json", cwd=folder)
    assert started.stdout is not None
    told = json.loads(started.stdout.readline())
    assert told["schema"] == "fairtrial.serve_started/1"
    assert told["exposed"] is False
    started.send_signal(signal.SIGTERM)
    out, _ = started.communicate(timeout=60)
    assert json.loads(out)["schema"] == "fairtrial.serve/1"


def test_it_opens_a_browser(folder: Path) -> None:
    browser = folder / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > opened.part && mv opened.part opened\n')
    browser.chmod(0o755)
    environment = {"BROWSER": f"{browser} %s"}
    started = process("serve", "--port", "0", "--open", cwd=folder, env=environment)
    assert started.stdout is not None
    url = started.stdout.readline().split()[-1]
    deadline = time.monotonic() + 30
    while not (folder / "opened").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=60)
    assert (folder / "opened").read_text() == f"{url}\n"


def test_a_port_that_is_taken_is_told(folder: Path, capfd: object) -> None:
    del folder, capfd
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        assert main(["serve", "--port", str(taken.getsockname()[1])]) == 64
    assert main(["serve", "--host", "no.such.host.invalid"]) == 64


def test_only_serve_loads_the_frameworks() -> None:
    code = (
        "import sys; from fairtrial.cli.main import main; main(['exp', 'list']); "
        "loaded = {'fastapi', 'starlette', 'uvicorn', 'pydantic', 'opentelemetry'}; "
        "sys.exit(str(loaded & set(sys.modules)) if loaded & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_the_other_loopback_address(bench: Bench) -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("needs IPv6 on loopback")
    with running(bench, host="::1") as server:
        assert server.url.startswith("http://[::1]:")
        assert server.ask("/v2/experiments").status == 200
        assert server.ask("/v2/experiments", headers={"Host": "evil.example"}).status == 421
