"""`fairtrial proxy`, as a person and as a program use it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.cli.conftest import Command, process

from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer

ASK = """
import json, os, sys, urllib.request
body = json.dumps({"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": [
    {"role": "user", "content": sys.argv[1] if len(sys.argv) > 1 else "Hi"}]}).encode()
headers = {"content-type": "application/json", "anthropic-version": "2023-06-01",
           "x-api-key": "sk-ant-" + "q" * 20, "x-fairtrial-session": os.environ.get("AS", "")}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, headers)
print(json.load(urllib.request.urlopen(request))["content"][0]["text"])
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([ScriptedAnswer("Hello you.")]) as server:
        yield server


def upstreams(server: ModelServer) -> tuple[str, ...]:
    return ("--anthropic-upstream", server.url, "--openai-upstream", server.v1_url)


def run(server: ModelServer, *words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run a command behind the proxy, as a process of its own."""
    started = process("proxy", *upstreams(server), *words, **settings)
    out, err = started.communicate(timeout=60)
    assert "Traceback" not in err.replace("Traceback of the child", "")
    return subprocess.CompletedProcess(words, started.returncode, out, err)


def ask(*words: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", ASK, *words)


def test_a_command_is_recorded_and_its_output_stays_its_own(
    server: ModelServer, fairtrial: Command
) -> None:
    done = run(server, *ask(), env={"AS": "mine"})
    assert (done.returncode, done.stdout) == (0, "Hello you.\n")
    assert "Recording model calls on http://127.0.0.1:" in done.stderr
    assert "claude-sonnet-5-5  200  100 in, 20 out" in done.stderr
    assert "1 call recorded, 100 tokens in, 20 out" in done.stderr
    listed = fairtrial("calls", "list")
    assert listed.code == 0
    assert "mine#1" in listed.out
    shown = fairtrial("calls", "show", "mine#1")
    for words in ("User\n  Hi", "Answer\n  Hello you.", "ended: end", "mine#1"):
        assert words in shown.out


def test_the_command_decides_the_exit_code(server: ModelServer) -> None:
    assert run(server, "--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(server, "--", sys.executable, "-c", killed).returncode == 137


def test_the_command_s_own_options_and_dashes_reach_it(server: ModelServer) -> None:
    code = "import sys; print(sys.argv[1:])"
    done = run(server, "--quiet", "--", sys.executable, "-c", code, "--json", "-", "--", "--quiet")
    assert done.stdout == "['--json', '-', '--', '--quiet']\n"
    assert done.stderr == ""


def test_a_command_that_is_not_there_is_named(server: ModelServer) -> None:
    done = run(server, "--", "no-such-program-anywhere")
    assert done.returncode == 66
    assert "'no-such-program-anywhere' cannot be run" in done.stderr


def test_codex_is_given_the_address_that_it_does_not_read(
    server: ModelServer, tmp_path: Path
) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho $@\n")
    program.chmod(0o755)
    done = run(server, "--", str(program), "exec", "hello")
    assert done.stdout.startswith("-c openai_base_url=http://127.0.0.1:")
    assert done.stdout.endswith("/v1 exec hello\n")


def test_this_machine_is_not_asked_of_the_network_s_proxy(server: ModelServer) -> None:
    code = "import os; print(os.environ['NO_PROXY'])"
    done = run(server, "--", sys.executable, "-c", code, env={"NO_PROXY": "intranet"})
    assert done.stdout == "intranet,127.0.0.1,localhost\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--anthropic-upstream", "api.anthropic.com"), "starts with http:// or https://"),
        (("--openai-upstream", "https://me:secret@host/v1"), "no credentials"),
        (("--openai-upstream", "http://host:notaport/v1"), "is no URL"),
        (("--port", "70000"), "--port"),
        (("--host", "192.0.2.1"), "cannot listen on 192.0.2.1"),
    ],
)
def test_what_cannot_work_is_told(fairtrial: Command, words: tuple[str, ...], told: str) -> None:
    outcome = fairtrial("proxy", *words)
    assert outcome.code == 64
    assert told in outcome.err


def start(server: ModelServer, *words: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """Start a proxy for programs; return it and what it says first."""
    started = process("proxy", *upstreams(server), "--json", *words)
    assert started.stdout is not None
    return started, json.loads(started.stdout.readline())


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310  # an address of the test
        content: bytes = answer.read()
        return content


def test_a_program_follows_it_line_by_line(server: ModelServer) -> None:
    proxy, first = start(server)
    assert proxy.stdout is not None
    assert first["schema"] == "fairtrial.proxy_started/1"
    assert first["variables"]["OPENAI_BASE_URL"] == first["url"] + "/v1"
    get(first["url"] + "/v1/models")
    call = json.loads(proxy.stdout.readline())
    assert call["schema"] == "fairtrial.proxy_call/1"
    assert (call["call"]["path"], call["call"]["status"]) == ("/v1/models", 200)
    with pytest.raises(OSError, match="404"):
        get(first["url"] + "/nothing")
    assert json.loads(proxy.stdout.readline())["schema"] == "fairtrial.proxy_refused/1"
    proxy.send_signal(signal.SIGINT)
    last = json.loads(proxy.stdout.readline())
    assert proxy.wait(20) == 0
    assert last["schema"] == "fairtrial.proxy/1"
    assert (last["calls"], last["failed"], last["lost"]) == (1, 0, 0)
    proxy.communicate()


def test_ctrl_c_lets_a_call_under_way_finish(fairtrial: Command) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.SLOW_FIRST_BYTE, slow_s=0.5)]) as server:
        proxy, first = start(server)
        environ = {**os.environ, **first["variables"]}
        child = subprocess.Popen(
            [sys.executable, "-c", ASK], env=environ, stdout=subprocess.PIPE, text=True
        )
        server.wait_until(lambda server: len(server.requests) == 1)
        proxy.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "Hello!\n"
        out, err = proxy.communicate(timeout=30)
    assert proxy.returncode == 0
    assert "finishing the calls in flight" in err
    assert json.loads(out.splitlines()[-1])["calls"] == 1
    assert fairtrial("calls", "list", "--json").json["calls"][0]["status"] == 200


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_told_to_end_at_once_it_keeps_what_was_under_way(
    fairtrial: Command, signals: list[signal.Signals]
) -> None:
    with ModelServer([ScriptedAnswer(fault=Fault.HANG)]) as server:
        proxy, first = start(server)
        environ = {**os.environ, **first["variables"]}
        child = subprocess.Popen(
            [sys.executable, "-c", ASK], env=environ, stderr=subprocess.PIPE, text=True
        )
        server.wait_until(lambda server: len(server.requests) == 1)
        assert proxy.stderr is not None
        for number in signals[:-1]:
            proxy.send_signal(number)
            while "finishing the calls in flight" not in (line := proxy.stderr.readline()):
                assert line
        proxy.send_signal(signals[-1])
        proxy.communicate(timeout=30)
        child.communicate(timeout=30)
    call = fairtrial("calls", "list", "--failed", "--json").json["calls"][0]
    assert (call["status"], call["problem"]) == (None, "the proxy was stopped")


def test_a_reader_that_left_stops_nothing(server: ModelServer, fairtrial: Command) -> None:
    proxy, first = start(server)
    assert proxy.stdout is not None
    proxy.stdout.close()
    get(first["url"] + "/v1/models")
    get(first["url"] + "/v1/models")
    proxy.send_signal(signal.SIGINT)
    assert proxy.wait(20) == 0
    assert proxy.stderr is not None
    proxy.stderr.close()
    assert len(fairtrial("calls", "list", "--json").json["calls"]) == 2


def test_a_person_is_told_how_to_use_it(server: ModelServer) -> None:
    proxy = process("proxy", *upstreams(server), "--host", "0.0.0.0")  # noqa: S104  # what is tested
    assert proxy.stdout is not None
    lines = []
    while "Ctrl-C" not in (line := proxy.stdout.readline()):
        lines.append(line)
    told = "".join(lines)
    proxy.send_signal(signal.SIGINT)
    out, _ = proxy.communicate(timeout=30)
    assert "  export ANTHROPIC_BASE_URL=http://127.0.0.1:" in told
    assert "codex -c openai_base_url=http://127.0.0.1:" in told
    assert "Warning: other machines can reach this address" in told
    assert "0 calls recorded" in out


@pytest.fixture
def recorded(fairtrial: Command) -> Iterator[ModelServer]:
    """A store with a conversation, a stream and a failure, some of it hostile."""
    script = [
        ScriptedAnswer("Red \x1b[31malert", tool_uses=(ToolUse("t1", "look", {"at": "\x1b[2J"}),)),
        ScriptedAnswer("Streamed."),
        ScriptedAnswer(status=429, error="slow down \x1b[0m"),
    ]
    code = """
import anthropic
from contextlib import suppress
client = anthropic.Anthropic(api_key="sk-ant-" + "z" * 30, max_retries=0,
                             default_headers={"x-fairtrial-session": "talk"})
first = dict(model="claude-sonnet-5-5", max_tokens=9, system="Be \\x1b]0;evil\\x07 kind.",
             messages=[{"role": "user", "content": "What is there?"}])
client.messages.create(**first)
list(client.messages.create(**first, stream=True))
with suppress(anthropic.RateLimitError):
    client.messages.create(**{**first, "model": "claude-opus-5"})
"""
    with ModelServer(script) as server:
        done = run(server, "--", sys.executable, "-c", code)
        assert done.returncode == 0, done.stderr
        del fairtrial
        yield server


def test_calls_are_listed_newest_first_and_by_pages(
    recorded: ModelServer, fairtrial: Command
) -> None:
    del recorded
    page = fairtrial("calls", "list", "-n", "2", "--json").json
    assert [(call["session"], call["number"]) for call in page["calls"]] == [
        ("talk", 3),
        ("talk", 2),
    ]
    rest = fairtrial("calls", "list", "--before", page["next"], "--json").json
    assert [call["number"] for call in rest["calls"]] == [1]
    assert rest["next"] is None
    assert (
        "Older ones: fairtrial calls list --before call_"
        in fairtrial("calls", "list", "-n", "1").out
    )
    failed = fairtrial("calls", "list", "--failed", "--json").json["calls"]
    assert [(call["status"], call["model"]) for call in failed] == [(429, "claude-opus-5")]
    assert len(fairtrial("calls", "list", "--model", "claude-opus-5", "--json").json["calls"]) == 1
    assert len(fairtrial("calls", "list", "--session", "latest", "--json").json["calls"]) == 3
    assert fairtrial("calls", "list", "--session", "nobody").code == 66


def test_a_call_is_named_in_many_ways(recorded: ModelServer, fairtrial: Command) -> None:
    del recorded
    first = fairtrial("calls", "show", "talk#1", "--json").json["call"]
    for name in (first["id"], first["id"][:-2], "talk#-3", "latest#1"):
        assert fairtrial("calls", "show", name, "--json").json["call"]["id"] == first["id"]
    for name in ("talk#9", "call_00000000", "nobody#1"):
        outcome = fairtrial("calls", "show", name)
        assert outcome.code == 66, name


def test_a_call_is_read_as_a_conversation_and_harms_no_terminal(
    recorded: ModelServer, fairtrial: Command
) -> None:
    del recorded
    shown = fairtrial("calls", "show", "talk#1").out
    for words in (
        "System\n  Be \\x1b]0;evil\\x07 kind.",
        "User\n  What is there?",
        "Red \\x1b[31malert",
        "asks for look (t1):",
        "ended: tool_use",
    ):
        assert words in shown
    for reference in ("talk#1", "talk#2", "talk#3"):
        for part in ((), ("--body", "request"), ("--body", "response"), ("--body", "events")):
            text = fairtrial("calls", "show", reference, *part).out
            assert "\x1b" not in text
            assert "\x07" not in text
    assert "slow down" in fairtrial("calls", "show", "talk#3").out


def test_the_parts_of_a_call_are_shown_as_they_were(
    recorded: ModelServer, fairtrial: Command
) -> None:
    del recorded
    whole = fairtrial("calls", "show", "talk#2", "--json").json
    assert whole["schema"] == "fairtrial.call/1"
    assert whole["answer"]["text"] == "Streamed."
    assert whole["conversation"]["messages"][0]["text"] == "What is there?"
    assert whole["request"]["stream"] is True
    assert whole["response"] is None
    assert whole["events"][0]["name"] == "message_start"
    events = fairtrial("calls", "show", "talk#2", "--body", "events").out
    assert events.splitlines()[-1] == 'message_stop  {"type": "message_stop"}'
    assert json.loads(fairtrial("calls", "show", "talk#1", "--body", "response").out)["id"]
    assert (
        "did not come as a stream" in fairtrial("calls", "show", "talk#1", "--body", "events").out
    )


def test_an_empty_store_says_how_to_begin(fairtrial: Command) -> None:
    assert "fairtrial proxy -- COMMAND" in fairtrial("calls", "list").out
    assert fairtrial("calls", "list", "--json").json["calls"] == []


def everything_in(home: Path) -> bytes:
    """Return all that a store holds: its files, and what is packed in them, unpacked."""
    found = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    database = sqlite3.connect(home / "fairtrial.db")
    try:
        tables = [
            row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        for table in tables:
            for row in database.execute(f'SELECT * FROM "{table}"'):  # noqa: S608  # its own tables
                found += [value for value in row if isinstance(value, bytes)]
                found += [value.encode() for value in row if isinstance(value, str)]
    finally:
        database.close()
    for data in list(found):
        for start in (0, 1):
            try:
                unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(data[start:])
            except zstandard.ZstdError:
                continue
            found.append(unpacked)
    return b"\n".join(found)


def test_no_secret_reaches_the_store() -> None:
    key = "sk-" + "ant-api03-" + "Ab3-" * 15
    planted = {
        "header": key,
        "query": "query-secret-4711",
        "cookie": "cookie-secret-4712",
        "file": "gh" + "p_" + "a1B2" * 9,
        "aws": "AK" + "IAIOSFODNN7EXAMPLE",
        "pem": "MIIEvQIBADANBgkqhkiG9w0BAQ",
        "answer": "sk-" + "proj-" + "Zx9" * 14,
    }
    code = f"""
import json, os, urllib.request
text = {planted["file"]!r} + " " + {planted["aws"]!r} + "\\n-----BEGIN PRIVATE " + (
    "KEY-----\\n" + {planted["pem"]!r} + "\\n-----END PRIVATE KEY-----\\n") + "x" * 20000
for stream in (False, True):
    body = json.dumps({{"model": "m", "max_tokens": 9, "stream": stream,
                       "messages": [{{"role": "user", "content": text}}]}}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?api_key=" + {planted["query"]!r}
    headers = {{"x-api-key": {key!r}, "authorization": "Bearer " + {key!r} + "two",
               "cookie": "c=" + {planted["cookie"]!r}, "content-type": "application/json"}}
    print(urllib.request.urlopen(urllib.request.Request(url, body, headers)).read()[:0])
"""
    answer = f"Here is {planted['answer']}, and you sent {key}two. marker-of-this-test"
    set_cookie = {"Set-Cookie": f"s={planted['cookie']}"}
    with ModelServer([ScriptedAnswer(answer, headers=set_cookie, chunk_chars=3)]) as server:
        done = run(server, "--", sys.executable, "-c", code)
        assert done.returncode == 0, done.stderr
    kept = everything_in(Path(os.environ["FAIRTRIAL_HOME"]))
    assert b"x" * 2000 in kept  # what is not secret is there
    assert b"marker-of-this" in kept
    for name, secret in planted.items():
        assert secret.encode() not in kept, name
        assert secret not in done.stderr, name
