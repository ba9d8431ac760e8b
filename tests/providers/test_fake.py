"""The scripted model does what its script says, and reads a question as a model would."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from fairtrial.graders.pairwise.prompt import question
from fairtrial.model.call import Api, Message, ModelCall, ModelReply, StopReason, WireCall
from fairtrial.model.errors import InfraError, ProviderError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.pairwise import PairwiseSpec
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.workspaces.host.client import HostWorkspace


def built(folder: Path, **options: Any) -> Provider:
    spec = provider_spec({"kind": "fake", **options}, "--pairwise")
    return build_provider(spec, Surroundings(folder, os.environ, HostWorkspace(slots=1)), "judge")


def ask(provider: Provider, *texts: str) -> list[str]:
    async def session() -> list[str]:
        calls = [ModelCall((Message("user", text),)) for text in texts]
        return [(await provider.complete(call)).text for call in calls]

    return asyncio.run(session())


def compare(provider: Provider, first: Json, second: Json) -> str:
    spec = PairwiseSpec("j", "the better one", provider_spec("fake", "test"))
    call = question(spec, "q", (first, second))
    answer = json.loads(asyncio.run(provider.complete(call)).text)
    return str(answer["winner"])


@pytest.mark.parametrize(
    ("prefers", "winners"),
    [
        ("longer", ("second", "tie")),
        ("shorter", ("first", "tie")),
        ("first", ("first", "first")),
        ("second", ("second", "second")),
        ("tie", ("tie", "tie")),
        ("with:long", ("second", "tie")),
        ("orders", ("tie", "tie")),
    ],
)
def test_it_prefers_as_told(tmp_path: Path, prefers: str, winners: tuple[str, str]) -> None:
    provider = built(tmp_path, prefers=prefers)
    assert (compare(provider, "no", "a long one"), compare(provider, "x", "x")) == winners


def test_the_first_rule_whose_text_stands_in_the_question_answers(tmp_path: Path) -> None:
    rules = [{"match": "red", "reply": "1"}, {"match": "re", "reply": {"a": "ü"}}, {"reply": "?"}]
    (tmp_path / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    for given in (rules, "rules.json"):
        provider = built(tmp_path, rules=given)
        assert ask(provider, "a red rose", "green", "blue") == ["1", '{"a": "ü"}', "?"]


def test_without_a_rule_that_fits_and_without_outputs_the_call_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no rule"):
        ask(built(tmp_path), "hello")


def test_it_fails_as_often_as_asked(tmp_path: Path) -> None:
    provider = built(tmp_path, fail_first=2, rules=[{"reply": "ok"}])
    for _ in range(2):
        with pytest.raises(InfraError) as caught:
            ask(provider, "hello")
        assert caught.value.kind == "rate_limit"
    assert ask(provider, "hello") == ["ok"]


def test_every_second_answer_is_off_the_menu(tmp_path: Path) -> None:
    provider = built(tmp_path, off_menu_every=2)
    assert [compare(provider, "a", "bb") for _ in range(4)] == ["second", "neither"] * 2


def test_it_tells_what_it_was_shown(tmp_path: Path) -> None:
    ask(built(tmp_path, log="calls.jsonl", rules=[{"reply": "ok"}]), "one", "two")
    lines = (tmp_path / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["messages"][0]["text"] for line in lines] == ["one", "two"]


def test_what_cannot_change_an_answer_is_not_its_identity(tmp_path: Path) -> None:
    plain = built(tmp_path, prefers="tie")
    assert plain.identity == built(tmp_path, prefers="tie", log="x", fail_first=3).identity
    assert plain.identity != built(tmp_path, prefers="first").identity


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefers": "loudest"}, "unknown preference 'loudest'"),
        ({"prefers": "with:"}, "unknown preference 'with:'"),
        ({"rules": "none.json"}, "the rules cannot be read"),
        ({"rules": "object.json"}, "the rules must be a list"),
        ({"rules": [{"match": "x"}]}, "rule 1 must be"),
        ({"rules": [{"match": 1, "reply": "x"}]}, "rule 1 must be"),
        ({"rules": "list.json"}, "rule 1 must be"),
    ],
)
def test_a_script_that_makes_no_sense_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "object.json").write_text("{}", encoding="utf-8")
    (tmp_path / "list.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        built(tmp_path, **options)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "no provider is given"),
        ("gpt", "unknown provider 'gpt'"),
        (3, "a provider is the name of a kind"),
        ({"name": "fake"}, "a provider is the name of a kind"),
        ({"kind": "fake", "prefer": "x"}, "unknown 'prefer'"),
    ],
)
def test_an_unknown_provider_is_told_which_exist(value: Json, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        provider_spec(value, "--pairwise")
    assert "fake" in str(caught.value)


def test_a_log_that_cannot_be_written_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for log, why in (("none/calls.jsonl", "No such file"), ("folder", "Is a directory")):
        with pytest.raises(UsageError, match=f"the log cannot be written: {why}") as caught:
            asyncio.run(built(tmp_path, log=log).open())
        assert log in str(caught.value.where)


REQUEST = {
    "model": "m",
    "max_tokens": 10,
    "messages": [
        {"role": "user", "content": "Fix it."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "1 failed"}],
        },
    ],
}


def send(provider: Provider) -> ModelReply:
    return asyncio.run(provider.send(WireCall(Api.ANTHROPIC_MESSAGES, REQUEST)))


def test_a_rule_answers_a_request_of_an_agent_with_tools(tmp_path: Path) -> None:
    uses = [{"name": "Bash", "input": {"command": "pytest"}}]
    rule = {"match": "1 failed", "reply": {"text": "I look.", "tool_uses": uses}}
    reply = send(built(tmp_path, rules=[rule], cost_usd=0.5))
    assert (reply.text, reply.stop, reply.cost_usd) == ("I look.", StopReason.TOOL_USE, 0.5)
    assert [(use.name, use.input) for use in reply.tool_uses] == [("Bash", {"command": "pytest"})]


def test_a_text_answers_a_request_of_an_agent_and_ends_the_turn(tmp_path: Path) -> None:
    reply = send(built(tmp_path, rules=[{"reply": "Done."}]))
    assert (reply.text, reply.stop, reply.tool_uses) == ("Done.", StopReason.END, ())


def test_a_request_that_no_rule_fits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="no rule"):
        send(built(tmp_path, rules=[{"match": "something else", "reply": "x"}]))


def test_a_request_fails_as_asked(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match="quota"):
        send(built(tmp_path, rules=[{"reply": "x"}], fail_first=1, fail_as="quota"))


@pytest.mark.parametrize("match", [5, None, [1], {}])
def test_a_rule_matches_a_text_or_texts(tmp_path: Path, match: Json) -> None:
    with pytest.raises(UsageError, match="rule 1 must be"):
        built(tmp_path, rules=[{"match": match, "reply": "x"}])


def test_all_texts_of_a_rule_must_stand_in_the_question(tmp_path: Path) -> None:
    rules = [{"match": ["red", "blue"], "reply": "both"}, {"reply": "not both"}]
    provider = built(tmp_path, rules=rules)
    assert ask(provider, "red and blue", "red alone") == ["both", "not both"]
