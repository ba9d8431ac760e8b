"""`exp replay`: recorded calls put to a model again, varied and compared."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, process
from tests.cli.test_interrupts import recorded, until
from tests.cli.test_killed import final

from fairtrial.model.call import ToolUse
from fairtrial.testing.model_server import Fault, ModelServer, ScriptedAnswer, ScriptedRequest

RECORDED, OTHER = "claude-sonnet-5", "claude-haiku-4-5"
ASKS = """
import anthropic, json, os
client = anthropic.Anthropic(api_key="sk-test-1234567890", max_retries=0)
for n in range(3):
    asked = dict(model="claude-sonnet-5", max_tokens=64, system="Be kind.", messages=[
        {"role": "user", "content": f"Question {n}"}])
    try:
        if n == 1:
            with client.messages.stream(**asked) as stream:
                stream.get_final_message()
        else:
            client.messages.create(**asked)
    except anthropic.APIError:
        pass
try:
    client.models.list()
except anthropic.APIError:
    pass
"""


class Model:
    """Asks for a tool; the other model asks for another one at question 1."""

    def __init__(self) -> None:
        self.fails_at = -1
        self.left = sys.maxsize  # so many requests more are answered, and none after them

    def __call__(self, request: ScriptedRequest) -> ScriptedAnswer:
        n = int(request.text.split("Question ")[1][0])
        if n == self.fails_at:
            return ScriptedAnswer(status=529, error="busy")
        strays = n == 1 and (request.model == OTHER or "Be rude." in request.text)
        use = ToolUse(f"toolu_{request.number}", "run" if not strays else "stop", {"n": n})
        self.left -= 1
        fault = Fault.SLOW_FIRST_BYTE if self.left < 0 else None
        return ScriptedAnswer("", tool_uses=(use,), fault=fault, slow_s=60.0)


@pytest.fixture
def model() -> Model:
    """What answers."""
    return Model()


@pytest.fixture
def server(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that everything calls."""
    with ModelServer(model) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-1234567890")
        yield server


@pytest.fixture
def record(fairtrial: Command, folder: Path, server: ModelServer) -> Command:
    """Record three model calls, and one call that asks no model."""
    del server
    (folder / "asks.py").write_text(ASKS, encoding="utf-8")

    def record() -> Any:
        done = fairtrial("proxy", "--quiet", "--", sys.executable, "asks.py")
        assert done.code == 0, done.err
        return fairtrial("calls", "list", "--json").json["calls"]

    return record


def test_another_model_is_compared_with_the_recorded_one(
    record: Command, fairtrial: Command, server: ModelServer
) -> None:
    record()
    before = len(server.calls)
    words = ("--session", "latest", "--vary", f"model={OTHER}", "--n", "2")
    report = fairtrial("exp", "replay", *words, "--json").json
    assert len(server.calls) == before + 3 * 2 * 2
    assert report["schema"] == "fairtrial.replay/1"
    a, b = report["arms"]
    assert (a["arm"], a["changes"], b["changes"]) == ("A", {}, {"model": OTHER})
    assert (a["same_action"]["estimate"], a["same_action"]["n"]) == (1.0, 3)
    assert b["same_action"]["estimate"] == pytest.approx(2 / 3)
    assert b["same_action"]["ci"]["lower"] < 2 / 3 < b["same_action"]["ci"]["upper"]
    assert (a["replies"], a["costed"]) == (6, 6)
    assert 0 < b["cost_usd"] < a["cost_usd"]
    experiment = report["experiment"]
    assert experiment["name"].startswith("replay-call_")
    assert experiment["comparison"] is not None
    sent = server.calls[before:]
    assert {request.model for request in sent} == {RECORDED, OTHER}
    version = server.calls[0].headers["anthropic-version"]
    assert {request.headers["anthropic-version"] for request in sent} == {version}
    text = fairtrial("exp", "replay", *words).out
    assert "Same first action as recorded" in text
    assert "from the cache" in text  # the same replies are not paid for twice


def test_the_plan_needs_no_key_and_calls_nobody(
    record: Command, fairtrial: Command, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    record()
    before = len(server.requests)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    words = ("latest#-2", "--vary", f"model={RECORDED},{OTHER}", "--vary", "system=Be rude.")
    done = fairtrial("exp", "replay", *words, "--dry-run")
    assert (done.code, len(server.requests)) == (0, before), done.err
    assert f"model={OTHER}, system=Be rude." in done.out
    assert "10 replies (1 call × 2 arms × 5), graded by same_action" in done.out
    assert "A sends every call as recorded: model was already so" in done.out
    plan = fairtrial("exp", "replay", *words, "--dry-run", "--json").json
    a, b = plan["arms"]
    assert (a["changes"], b["changes"]["system"]) == ({"model": RECORDED}, "Be rude.")
    assert 0 < b["cost"]["least_usd"] < a["cost"]["least_usd"]
    total = a["cost"]["least_usd"] + b["cost"]["least_usd"]
    assert plan["cost"]["least_usd"] == pytest.approx(total)
    assert fairtrial("dataset", "list", "--json").json["versions"] == []


def test_values_from_files_with_commas_and_as_json(
    record: Command, fairtrial: Command, folder: Path, server: ModelServer
) -> None:
    record()
    (folder / "prompt.md").write_text("Be rude.\nAnd, if you can, brief.", encoding="utf-8")
    before = len(server.calls)
    words: tuple[str, ...] = (
        "--vary",
        "system=@prompt.md",
        "--vary",
        "thinking.budget_tokens=2000",
    )
    words += ("--vary", "temperature=0.5,1", "--vary", "metadata.user_id=a\\,b")
    done = fairtrial("exp", "replay", "latest#2", *words, "--n", "1", "--json")
    assert done.code in (0, 2), done.err
    sent = {request.body["temperature"]: request.body for request in server.calls[before:]}
    assert sent[1]["system"] == "Be rude.\nAnd, if you can, brief."
    assert (sent[1]["thinking"], sent[1]["metadata"]) == (
        {"budget_tokens": 2000},
        {"user_id": "a,b"},
    )
    assert (sent[0.5]["system"], "thinking" in sent[0.5]) == ("Be kind.", False)
    changes = done.json["arms"][1]["changes"]
    assert changes["system"].startswith("Be rude.")


def test_a_criterion_adds_a_judge(record: Command, fairtrial: Command) -> None:
    record()
    words = ("latest#1", "--vary", "system=Be rude.", "--criterion", "Is it polite?")
    done = fairtrial("exp", "replay", *words, "--judge-model", OTHER, "--dry-run", "--json")
    assert done.json["graders"] == ["same_action", "judge"]
    assert done.json["cost"]["least_usd"] < done.json["cost"]["most_usd"]
    alone = fairtrial("exp", "replay", *words[:3], "--judge-model", OTHER)
    assert (alone.code, "without --criterion" in alone.err) == (64, True)


def test_a_failed_call_has_no_turn_to_compare_with(
    record: Command, fairtrial: Command, model: Model
) -> None:
    model.fails_at = 0
    record()
    model.fails_at = -1
    alone = fairtrial("exp", "replay", "latest#1", "--vary", "system=x")
    assert (alone.code, "none of the calls got an answer" in alone.err) == (64, True)
    words = ("--session", "latest", "--vary", f"model={OTHER}", "--n", "1", "--json")
    done = fairtrial("exp", "replay", *words)
    assert done.json["arms"][0]["same_action"]["n"] == 2
    assert done.json["experiment"]["undecided"] == 2


def test_a_secret_that_was_taken_out_is_told(
    record: Command, fairtrial: Command, server: ModelServer
) -> None:
    del record
    port = _recorded_with_secret(fairtrial, server)
    assert port
    done = fairtrial("exp", "replay", "latest#1", "--vary", "system=x", "--dry-run")
    assert "kept with a secret taken out" in done.out, done.err


def _recorded_with_secret(fairtrial: Command, server: ModelServer) -> bool:
    program = (
        "import anthropic, os\n"
        "client = anthropic.Anthropic(api_key='k', max_retries=0)\n"
        "text = 'Question 1: my key is sk-ant-api03-' + 'a1B2' * 20\n"
        "client.messages.create(model='claude-sonnet-5', max_tokens=9,\n"
        "    messages=[{'role': 'user', 'content': text}])\n"
    )
    Path("secret.py").write_text(program, encoding="utf-8")
    done = fairtrial("proxy", "--quiet", "--", sys.executable, "secret.py")
    return done.code == 0 and bool(server.calls)


def _newest(calls: Any) -> str:
    return str(next(call["id"] for call in calls if call["model"]))


class TestWhereCallsGo:
    def test_a_recorded_address_that_is_not_the_usual_one_gets_no_key(
        self,
        record: Command,
        fairtrial: Command,
        server: ModelServer,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        record()
        monkeypatch.delenv("ANTHROPIC_BASE_URL")
        words = ("latest#1", "--vary", f"model={OTHER}", "--n", "1", "--no-cache")
        done = fairtrial("exp", "replay", *words)
        assert "is not sent to" in done.err
        assert "x-api-key" not in server.calls[-1].headers
        named = fairtrial("exp", "replay", *words, "--upstream", server.url)
        assert "is not sent to" not in named.err
        assert server.calls[-1].headers["x-api-key"] == "present"

    def test_calls_of_different_places_need_one(
        self,
        record: Command,
        fairtrial: Command,
        model: Model,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        first = _newest(record())
        with ModelServer(model) as other:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", other.url)
            second = _newest(record())
            monkeypatch.delenv("ANTHROPIC_BASE_URL")
            done = fairtrial("exp", "replay", first, second, "--vary", "system=x", "--dry-run")
        assert (done.code, "went to different places" in done.err) == (64, True)


REFUSED: tuple[tuple[tuple[str, ...], int, str], ...] = (
    ((), 64, "no call is named"),
    (("latest#1",), 64, "nothing is varied"),
    (("latest#99", "--vary", "model=x"), 66, "has no call 99"),
    (("call_0000000000", "--vary", "model=x"), 66, "call_0000000000"),
    (("latest#4", "--vary", "model=x"), 64, "asks no model"),
    (("latest#1", "--vary", "model"), 64, "names no field"),
    (("latest#1", "--vary", "=x"), 64, "names no field"),
    (("latest#1", "--vary", "model=a,b,c"), 64, "model has 3 values"),
    (("latest#1", "--vary", "model=a,a"), 64, "both arms send the same"),
    (("latest#1", "--vary", "model=a", "--vary", "model=b"), 64, "varied twice"),
    (("latest#1", "--vary", "system=@nowhere.md"), 64, "nowhere.md cannot be read"),
    (("latest#1", "--vary", "messages.7.content=x"), 64, "names no place"),
    (("latest#1", "--vary", "model=nobody-1", "--max-cost", "1"), 77, "no price is known"),
    (("latest#1", "--vary", f"model={OTHER}", "--max-cost", "0.0001"), 77, "more than"),
    (("--resume",), 66, "no unfinished replay"),
)


def test_what_makes_no_sense_is_refused(record: Command, fairtrial: Command) -> None:
    record()
    for words, code, message in REFUSED:
        done = fairtrial("exp", "replay", *words)
        assert (done.code, message in done.err) == (code, True), (words, done.err)


@pytest.mark.parametrize("after", [0, 1, 6, 11])
def test_a_replay_that_is_killed_anywhere_ends_like_an_undisturbed_one(
    record: Command,
    fairtrial: Command,
    folder: Path,
    model: Model,
    after: int,
) -> None:
    record()
    words = ("--session", "latest", "--vary", f"model={OTHER}", "--n", "2", "--no-cache")
    whole = fairtrial("exp", "replay", *words, "--json").json
    assert whole["arms"][0]["replies"] == 6
    before = recorded()
    model.left = after
    cut = process("exp", "replay", *words, "-c", "1", cwd=folder)
    until(lambda: (model.left < 0 and recorded() == before + after) or cut.poll() is not None)
    cut.send_signal(signal.SIGKILL)
    cut.communicate(timeout=30)
    assert recorded() == before + after
    model.left = sys.maxsize
    (left,) = fairtrial("exp", "status", "--json").json["runs"]
    assert left["resume"] == f"fairtrial exp replay --resume {left['id']}"
    resumed = fairtrial("exp", "replay", "--resume", "--json").json
    assert recorded() == before + 12
    for told in (resumed, whole):  # each draws its own seed
        told["experiment"].pop("seed")
    assert final(resumed) == final(whole)


def test_a_replay_that_is_described_and_named_by_its_id_goes_on(
    record: Command, fairtrial: Command
) -> None:
    record()
    words = ("latest#2", "--vary", f"model={OTHER}", "--n", "2")
    first = fairtrial("exp", "replay", *words, "--name", "mine", "--json").json
    again = fairtrial("exp", "replay", *words, "--resume", "mine", "--json")
    assert again.code == 0, again.err
    assert again.json["experiment"]["id"] == first["experiment"]["id"]


def test_a_continuation_task_gets_a_control(
    record: Command, fairtrial: Command, folder: Path
) -> None:
    record()
    call = fairtrial("calls", "show", "latest#2", "--body", "request", "--json").json["request"]
    case = {"id": "step", "input": {"api": "anthropic-messages", "body": call}, "expected": {}}
    case["expected"] = {"text": "", "tool_uses": [{"name": "run", "input": {"n": 1}}], "stop": ""}
    (folder / "steps.json").write_text(json.dumps([case]), encoding="utf-8")
    assert fairtrial("dataset", "add", "steps", "steps.json").code == 0
    task = json.dumps({"kind": "continuation", "vary": {"model": OTHER}})
    words = ("exp", "run", "-d", "steps", "--task", task, "-g", "same_action", "--json")
    both = fairtrial(*words).json
    assert both["spec"]["arms"]["control"]["vary"] == {}
    assert both["spec"]["arms"]["candidate"]["vary"] == {"model": OTHER}
    assert both["replay"]["control"] is True
    alone = fairtrial(*words, "--no-control").json
    assert list(alone["spec"]["arms"]) == ["main"]
    assert alone["replay"]["control"] is False
    assert "No control arm" in fairtrial("exp", "show", alone["id"]).out
