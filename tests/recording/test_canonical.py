"""When two requests are the same, and where they differ when they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fairtrial.recording.canonical import canonical_hash, difference
from fairtrial.redaction.secrets import Redactor

Body = dict[str, Any]


def claude(run: int) -> Body:
    """What Claude Code sends in one of two identical runs."""
    folder = f"/tmp/trial-{run}abc/repo"  # noqa: S108  # only a name
    slug = folder.replace("/", "-")
    return {
        "model": "claude-sonnet-5-5",
        "max_tokens": 128000,
        "metadata": {"user_id": json.dumps({"session_id": f"session-{run}"})},
        "system": [
            {"type": "text", "text": f"x-anthropic-billing-header: cc_version=2; cch=a{run}f;"},
            {
                "type": "text",
                "text": f"Remember in `/home/u/.claude/projects/{slug}/memory/`.",
                "cache_control": {"type": "ephemeral"},
            },
        ],
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "text",
                        "text": f"Branch: main\n\nRecent commits:\n{run}0fe5cd initial\n"
                        f"{run}abcdef0 second one\n\nThat was it.",
                    },
                    {
                        "type": "text",
                        "text": f"# Environment\n - Primary working directory: {folder}\n - Shell: "
                        f"bash\nToday's date is 2026-11-2{run}.",
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "tool_use",
                        "id": f"toolu_{run}",
                        "name": "Bash",
                        "input": {"command": f"cat {folder}/a.py"},
                    }
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"toolu_{run}",
                        "content": f"2 failed, 1 passed in {run}.17s",
                    }
                ],
            },
        ],
    }


def codex(run: int) -> Body:
    """What Codex sends in one of two identical runs."""
    return {
        "model": "gpt-5.5",
        "client_metadata": {"session_id": f"s{run}"},
        "prompt_cache_key": f"s{run}",
        "input": [
            {
                "type": "message",
                "id": f"msg_{run}",
                "role": "user",
                "content": [
                    {
                        "type": "input_text",
                        "text": f"<environment_context>\n  <cwd>/var/tmp/w{run}/repo</cwd>\n  "
                        f"<current_date>2026-11-2{run}</current_date>",
                    }
                ],
            },
            {"type": "function_call", "id": f"fc_{run}", "call_id": f"call_{run}", "name": "run"},
            {
                "type": "function_call_output",
                "id": f"fco_{run}",
                "call_id": f"call_{run}",
                "output": f"Chunk ID: 8f{run}740\nWall time: {run}.0305 seconds\nexited with 0",
            },
        ],
    }


def of(body: Body) -> str:
    found = canonical_hash("api", json.dumps(body).encode(), Redactor())
    assert found is not None
    return found


@pytest.mark.parametrize("agent", [claude, codex])
def test_two_identical_runs_send_the_same(agent: Callable[[int], Body]) -> None:
    assert of(agent(0)) == of(agent(1))
    assert difference(agent(0), agent(1)) is None


def changed(change: Callable[[Body], None]) -> str | None:
    other = claude(1)
    change(other)
    assert of(claude(0)) != of(other)
    return difference(claude(0), other)


def test_a_change_is_named_by_its_field() -> None:
    def model(body: Body) -> None:
        body["model"] = "claude-opus-5"

    def result(body: Body) -> None:
        body["messages"][2]["content"][0]["content"] = "3 passed in 0.10s"

    def further(body: Body) -> None:
        body["messages"].append({"role": "user", "content": "go on"})

    def prompt(body: Body) -> None:
        body["system"][1]["text"] += " Be brief."

    def temperature(body: Body) -> None:
        body["temperature"] = 0.5

    assert changed(model) == "model differs"
    assert changed(result) == "messages[2].content differs"
    assert changed(further) == "messages[3] differs"
    assert changed(prompt) == "system[1].text differs"
    assert changed(temperature) == "temperature differs"


def test_what_a_user_wrote_counts() -> None:
    for one, other in (
        ("as of 2024-01-01", "as of 2025-01-01"),
        ("commit abc1234 is bad", "commit abc1235 is bad"),
        ("/home/a/x", "/home/a/y"),
        ("wait 5 s", "wait 6 s"),
    ):
        bodies = [{"messages": [{"role": "user", "content": text}]} for text in (one, other)]
        assert of(bodies[0]) != of(bodies[1]), one


def test_the_order_of_fields_marks_for_the_cache_and_blocks_for_texts_do_not_count() -> None:
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    a = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    b = {"messages": [{"content": [block], "role": "user"}], "model": "m"}
    assert of(a) == of(b)
    assert difference(a, b) is None


def test_true_is_not_one() -> None:
    assert difference({"stream": True}, {"stream": 1}) == "stream differs"


def test_a_secret_that_changed_does_not_count() -> None:
    bodies = [{"system": "sk-" + "ant-api03-" + letter * 30} for letter in "ab"]
    assert of(bodies[0]) == of(bodies[1])


def test_the_api_counts() -> None:
    body = b'{"model": "m"}'
    assert canonical_hash("a", body, Redactor()) != canonical_hash("b", body, Redactor())


@pytest.mark.parametrize("body", [b"", b"[1]", b"not json", b"\xff"])
def test_what_is_no_request_has_no_hash(body: bytes) -> None:
    assert canonical_hash("api", body, Redactor()) is None
