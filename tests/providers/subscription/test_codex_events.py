"""Every way in which `codex exec --json` ends, as a program prints it that stands in for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.providers.subscription.lab import Lab, question

from fairtrial.model.call import StopReason
from fairtrial.model.errors import InfraError, ProviderError, TrialProblem
from fairtrial.model.task import Tokens

USAGE = {
    "input_tokens": 12100,
    "cached_input_tokens": 10000,
    "cache_write_input_tokens": 100,
    "output_tokens": 50,
    "reasoning_output_tokens": 10,
}
STARTED = ({"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"})
LIMIT = (
    "You\u2019ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at 6:49 PM."
)


def printed(*events: Any) -> str:
    return "".join(json.dumps(event) + "\n" for event in (*STARTED, *events))


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind, **fields}}


def failed(words: str) -> str:
    again = {"type": "error", "message": f"Reconnecting... 1/1 ({words})"}
    last = {"type": "error", "message": words}
    return printed(again, last, {"type": "turn.failed", "error": {"message": words}})


def problem(lab: Lab, stdout: str, status: int = 1, stderr: str = "") -> TrialProblem:
    lab.log_in("codex")
    program = lab.printing(stdout, status=status, stderr=stderr)
    return lab.refused(lab.provider("codex", program), question())


def test_the_last_message_is_the_answer_and_usage_is_told_apart(lab: Lab) -> None:
    lab.log_in("codex")
    done = printed(
        item("error", message="Code Mode is unavailable"),
        item("reasoning", text="hm"),
        item("agent_message", text="I look."),
        {"type": "error", "message": "Reconnecting... 1/1 (Connection failed)"},
        item("agent_message", text="Grüße\u2028!"),
        {"type": "turn.completed", "usage": USAGE},
    )
    reply = lab.ask(lab.provider("codex", lab.printing("noise\n{torn\n" + done)), question())
    assert (reply.text, reply.model, reply.stop) == ("Grüße\u2028!", "gpt-6-sol", StopReason.END)
    assert reply.tokens == Tokens(2000, 50, 10000, 100, 10)
    assert reply.cost_usd is None


def test_an_answer_without_words_is_one(lab: Lab) -> None:
    lab.log_in("codex")
    done = printed({"type": "turn.completed", "usage": USAGE})
    assert lab.ask(lab.provider("codex", lab.printing(done)), question()).text == ""


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("unexpected status 401 Unauthorized: Incorrect API key provided, url: http://x", "login"),
        ("unexpected status 403 Forbidden: forbidden, url: http://x", "login"),
        ("Your access token could not be refreshed. Please log out and sign in again.", "login"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limit"),
        (LIMIT, "quota"),
        ("You're out of credits. Your workspace is out of credits.", "quota"),
        ("Quota exceeded: insufficient_quota", "quota"),
        ("We\u2019re currently experiencing high demand, which may cause errors.", "server"),
        ("exceeded retry limit, last status: 503 Service Unavailable", "server"),
        ("stream disconnected before completion: stream closed", "server"),
        ("Connection failed: error sending request", "network"),
        ("workspace routing discovery failed", "network"),
    ],
)
def test_trouble_of_the_world(lab: Lab, words: str, kind: str) -> None:
    caught = problem(lab, failed(words))
    assert isinstance(caught, InfraError)
    assert (caught.kind, words[:40] in str(caught)) == (kind, True)


def test_a_spent_limit_says_when_it_is_lifted(lab: Lab) -> None:
    assert "try again at 6:49 PM" in str(problem(lab, failed(LIMIT)))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            json.dumps({"error": {"message": "Your input exceeds the context window of this one"}}),
            "codex: Your input exceeds the context window of this one",
        ),
        ("unexpected status 404 Not Found: The model `x` does not exist", "404 Not Found"),
    ],
)
def test_what_would_be_refused_again(lab: Lab, words: str, message: str) -> None:
    caught = problem(lab, failed(words))
    assert isinstance(caught, ProviderError)
    assert message in str(caught)


@pytest.mark.parametrize("kind", ["command_execution", "file_change", "mcp_tool_call"])
def test_an_answer_for_which_a_tool_ran_does_not_count(lab: Lab, kind: str) -> None:
    done = printed(
        item(kind), item("agent_message", text="x"), {"type": "turn.completed", "usage": USAGE}
    )
    caught = problem(lab, done, status=0)
    assert isinstance(caught, ProviderError)
    assert f"used a tool, which it was told not to: {kind}" in str(caught)


def test_what_it_says_before_it_starts(lab: Lab) -> None:
    words = "Error: Unknown feature flag: not_a_feature"
    caught = problem(lab, "", stderr=words)
    assert isinstance(caught, ProviderError)
    assert words in str(caught)


def test_a_signal_leaves_no_end(lab: Lab) -> None:
    lab.log_in("codex")
    source = f"import os, sys\nprint({printed()!r}, flush=True)\nos.kill(os.getpid(), 15)\n"
    caught = lab.refused(lab.provider("codex", lab.stand_in(source)), question())
    assert isinstance(caught, InfraError)
    assert "ended from outside (signal 15)" in str(caught)
