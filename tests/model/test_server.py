"""The server of the model does what the tests beside it rely on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlsplit

import openai
import pytest
from tests.model.conftest import BASE, INSTRUCT, needs_model, server_command

pytestmark = needs_model

CAPITAL: list[Any] = [{"role": "user", "content": "What is the capital of France?"}]
KILLED_LATER = """
import subprocess, sys, time
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
print(server.stdout.readline(), end="", flush=True)
time.sleep(600)
"""


@pytest.fixture
def client(model_url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=model_url, api_key="none", max_retries=0)


def test_whole_and_streamed_answers_are_one_answer(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(
        model=INSTRUCT, messages=CAPITAL, max_tokens=20, temperature=0
    )
    assert "Paris" in (whole.choices[0].message.content or "")
    assert whole.choices[0].finish_reason == "stop"
    usage: Any = None
    pieces = []
    for chunk in client.chat.completions.create(
        model=INSTRUCT,
        messages=CAPITAL,
        max_tokens=20,
        temperature=0,
        stream=True,
        stream_options={"include_usage": True},
    ):
        usage = chunk.usage or usage
        pieces += [choice.delta.content or "" for choice in chunk.choices]
    assert "".join(pieces) == whole.choices[0].message.content
    assert len(pieces) > 3
    assert usage == whole.usage


def test_the_same_question_has_the_same_answer_whatever_came_before(client: openai.OpenAI) -> None:
    def ask(text: str) -> str:
        answer = client.completions.create(model=BASE, prompt=text, max_tokens=12, temperature=0)
        return answer.choices[0].text

    first = ask("Once upon a time")
    ask("Once upon a hill")
    assert ask("Once upon a time") == first


def test_what_it_cannot_do_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match=INSTRUCT):
        client.chat.completions.create(model="gpt-9", messages=CAPITAL)
    with pytest.raises(openai.BadRequestError, match="the question has"):
        client.completions.create(model=BASE, prompt="long " * 9_000)
    with pytest.raises(openai.BadRequestError, match="'n' must be 1"):
        client.chat.completions.create(model=INSTRUCT, messages=CAPITAL, n=2)


def test_it_dies_with_the_process_that_started_it() -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", KILLED_LATER, *server_command()], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout
    address = urlsplit(starter.stdout.readline().strip())
    os.kill(starter.pid, signal.SIGKILL)
    starter.communicate()
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex((address.hostname, address.port)) != 0:
                return
        time.sleep(0.1)
    pytest.fail("the server outlived the process that started it")


def test_without_an_installation_it_says_what_to_do(tmp_path: Any) -> None:
    done = subprocess.run(
        server_command(tmp_path), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "make model" in done.stderr
