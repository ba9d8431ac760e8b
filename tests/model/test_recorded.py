"""Calls of a real model: recorded, shown, put to it again, and served again."""

from __future__ import annotations

import json
import sys
from typing import Any

from tests.model.conftest import BASE, INSTRUCT, Desk, needs_model, prompt

pytestmark = needs_model

CLIENT = """
import openai

client = openai.OpenAI(api_key="sk-no-key-of-anybody-0000", max_retries=0)
for city in ("France", "Italy"):
    question = {"role": "user", "content": f"What is the capital of {city}?"}
    asked = dict(
        model="smollm2-135m-instruct", messages=[question], max_tokens=20, temperature=0
    )
    print(client.chat.completions.create(**asked).choices[0].message.content)
    stream = client.chat.completions.create(stream=True, **asked)
    print("".join(c.delta.content or "" for chunk in stream for c in chunk.choices))
"""


def recorded(desk: Desk) -> list[str]:
    """Record the client's four calls; return what it printed."""
    (desk.folder / "client.py").write_text(CLIENT, encoding="utf-8")
    done = desk.ok("proxy", "--", sys.executable, "client.py")
    assert "4 calls recorded" in done.err
    return done.out.splitlines()


def test_calls_are_recorded_whole_and_shown(desk: Desk) -> None:
    said = recorded(desk)
    assert said[0] == said[1]
    assert "Paris" in said[0]
    calls = desk.json("calls", "list")["calls"]
    assert [call["model"] for call in calls] == [INSTRUCT] * 4
    assert {call["status"] for call in calls} == {200}
    assert [call["cost_usd"] for call in calls] == [None] * 4
    whole = desk.ok("calls", "show", "latest#1")
    assert "What is the capital of France?" in whole.out
    assert said[0] in whole.out
    streamed = desk.json("calls", "show", "latest#2", "--body", "events")
    assert said[1].split()[0] in json.dumps(streamed)
    shown = desk.ok("calls", "show", "latest#1", "--json").out
    assert "no-key-of-anybody" not in shown


def replies(desk: Desk, arm: str) -> list[Any]:
    name = desk.json("exp", "list")["experiments"][0]["id"]
    return [trial for trial in desk.trials(name) if trial["arm"] == arm]


def test_a_replay_with_a_lower_limit_says_less(desk: Desk) -> None:
    said = recorded(desk)
    grader = json.dumps({"kind": "regex", "name": "city", "pattern": "Paris|Rome"})
    words = ("exp", "replay", "--session", "latest", "--n", "1", "-g", grader)
    report = desk.json(*words, "--vary", "max_tokens=2")
    assert [arm["arm"] for arm in report["arms"]] == ["A", "B"]
    assert report["arms"][1]["changes"] == {"max_tokens": 2}
    cities = {
        arm: sum(
            score["passed"]
            for trial in replies(desk, arm)
            for score in trial["scores"]
            if score["grader"] == "city"
        )
        for arm in "AB"
    }
    assert cities["A"] == sum("Paris" in text or "Rome" in text for text in said) >= 2
    assert cities["B"] == 0


def test_a_replay_hotter_says_other_things(desk: Desk) -> None:
    said = recorded(desk)
    desk.ok("exp", "replay", "latest#1", "--vary", "temperature=2", "--n", "4")
    as_recorded = [json.dumps(trial["output"]) for trial in replies(desk, "A")]
    assert len(set(as_recorded)) == 1
    assert said[0] in as_recorded[0]
    assert len({json.dumps(trial["output"]) for trial in replies(desk, "B")}) > 1


def test_a_replay_with_another_system_prompt_asks_with_it(desk: Desk) -> None:
    recorded(desk)
    words = ("exp", "replay", "latest#1", "--vary", "system=You speak like a pirate.", "--n", "1")
    plan = desk.ok(*words, "--dry-run")
    assert "no price is known" in plan.out
    assert desk.run(*words, "--max-cost", "1").code == 77
    desk.ok(*words)
    (a,), (b,) = replies(desk, "A"), replies(desk, "B")
    assert b["tokens"]["input"] > (a["tokens"] or a["reused"]["tokens"])["input"]


def test_a_recorded_run_is_served_again_up_to_the_first_change(desk: Desk) -> None:
    same: dict[str, Any] = {"model": BASE, "max_tokens": 8, "params": {"stop": "\n"}}
    words = ("exp", "run", "-d", "reviews", "--first-n", "2", "--task")
    grade = ("-g", '{"kind":"exact","ignore_case":true}')
    few, zero = (prompt(template_file=f"{arm}_shot.md", **same) for arm in ("few", "zero"))
    desk.ok(*words, few, *grade, "--record", "--name", "before")
    report = desk.json(*words, zero, *grade, "--replay", "before", "--name", "after")
    control, candidate = report["replay"]["arms"]
    assert (control["served"], control["live"], control["followed"]) == (2, 0, 2)
    assert (candidate["served"], candidate["live"], candidate["followed"]) == (0, 2, 0)
    assert candidate["divergences"][0]["reasons"] == [["messages[0].content differs", 2]]
    before = {trial["case_id"]: trial for trial in desk.trials("before")}
    for trial in desk.trials("after"):
        if trial["arm"] == "control":
            assert trial["output"] == before[trial["case_id"]]["output"]
            assert trial["reused"]["source"] == "recording"
            assert trial["reused"]["tokens"] == before[trial["case_id"]]["tokens"]
