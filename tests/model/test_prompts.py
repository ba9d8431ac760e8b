"""Two prompts on a real model: the better one wins, and the numbers are those of the answers."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.model.conftest import (
    BASE,
    EXAMPLE,
    INSTRUCT,
    Desk,
    needs_model,
    prompt,
    readme_lines,
)

pytestmark = needs_model

CHEAP = {"smollm2-*": {"input": 1, "output": 2}}


def passes(desk: Desk, experiment: str) -> Counter[str]:
    return Counter(t["arm"] for t in desk.trials(experiment) if t["verdict"] == "passed")


def test_the_readme_of_the_example_says_all_that_was_typed(tried: Desk) -> None:
    del tried
    assert [line.split()[:3] for line in readme_lines()] == [
        ["export", "OPENAI_BASE_URL=http://127.0.0.1:8080/v1"],
        ["fairtrial", "dataset", "add"],
        ["fairtrial", "exp", "run"],
        ["fairtrial", "exp", "compare"],
    ]


def test_examples_beat_an_instruction(tried: Desk) -> None:
    """It was 8 to 20 of 20 when this was written; another CPU may round another way."""
    passed = passes(tried, "sentiment")
    assert passed["few_shot"] >= 17
    assert passed["zero_shot"] <= 13
    report = tried.json("exp", "compare", "sentiment")
    assert report["a"]["arm"] == "zero_shot"
    assert report["b"]["arm"] == "few_shot"
    assert "few_shot is better than zero_shot" in report["sentence"]


def test_a_pass_is_an_answer_that_is_the_expected_word(tried: Desk) -> None:
    expected = {
        case["id"]: case["expected"]
        for case in map(json.loads, (EXAMPLE / "cases.jsonl").read_text().splitlines())
    }
    trials = tried.trials("sentiment")
    assert len(trials) == 40
    for trial in trials:
        right = trial["output"].strip().lower() == expected[trial["case_id"]]
        assert (trial["verdict"] == "passed") == right


def test_the_gate_ships_the_better_prompt_and_holds_the_worse(tried: Desk) -> None:
    ship = tried.run("exp", "compare", "sentiment:zero_shot", "sentiment:few_shot", "--gate")
    assert ship.code == 0, ship.out
    assert "Decision: ship" in ship.out
    hold = tried.run("exp", "compare", "sentiment:few_shot", "sentiment:zero_shot", "--gate")
    assert hold.code == 1, hold.out
    assert "Decision: hold" in hold.out


def test_the_same_arms_on_the_command_line_are_answered_from_the_cache(tried: Desk) -> None:
    common: dict[str, Any] = {"model": BASE, "max_tokens": 8, "params": {"stop": "\n"}}
    arms = [
        f"{arm}={prompt(template_file=f'{arm}.md', **common)}" for arm in ("zero_shot", "few_shot")
    ]
    words = ("exp", "run", "-d", "reviews", "-g", '{"kind":"exact","ignore_case":true}')
    report = tried.json(*words, "--name", "again", "--arm", arms[0], "--arm", arms[1])
    first, again = tried.trials("sentiment"), tried.trials("again")
    by_key = {(t["arm"], t["case_id"]): t for t in again}
    for trial in first:
        kept = by_key[trial["arm"], trial["case_id"]]
        assert kept["output"] == trial["output"]
        assert kept["tokens"] is None
        assert kept["reused"]["source"] == "cache"
        assert kept["reused"]["tokens"] == trial["tokens"]
    (reused,) = report["reused"]
    counted = [t["tokens"]["input"] + t["tokens"]["output"] for t in first]
    assert (reused["calls"], reused["tokens"]) == (40, sum(counted))
    # Nothing was paid, and what that saved nobody knows: the model has no price.
    assert report["cost_usd"] is None
    assert reused["cost_usd"] is None


def test_without_a_price_the_cost_is_unknown_and_no_limit_can_be_kept(desk: Desk) -> None:
    words = ("exp", "run", "spec.yaml", "--first-n", "1", "--no-cache")
    refused = desk.run(*words, "--max-cost", "1")
    assert refused.code == 77
    assert f"no price is known for {BASE}" in refused.err
    free = desk.ok(*words, "--name", "unpriced")
    assert f"no price is known for {BASE}: what it costs will be unknown" in free.err
    assert [trial["cost_usd"] for trial in desk.trials("unpriced")] == [None, None]


def test_a_price_of_ones_own_makes_costs_and_limits(desk: Desk) -> None:
    env = {"FAIRTRIAL_PRICES": str(desk.folder / desk.write("prices.json", CHEAP))}
    words = ("exp", "run", "spec.yaml", "--first-n", "2", "--no-cache", "--max-cost")
    report = desk.json(*words, "1", env=env)
    trials = desk.trials("sentiment")
    for trial in trials:
        tokens = trial["tokens"]
        price = (tokens["input"] * 1 + tokens["output"] * 2) / 1e6
        assert trial["cost_usd"] == pytest.approx(price)
        assert tokens["input"] > 20
    assert report["cost_usd"] == pytest.approx(sum(trial["cost_usd"] for trial in trials))
    assert report["n_costed"] == 4
    assert desk.run(*words, "0.000001", env=env).code == 77


def test_answers_are_the_same_streamed_or_not(desk: Desk) -> None:
    words = ("exp", "run", "-d", "reviews", "--case", "soup", "-g", "exact", "--no-cache")
    for name, stream in (("streamed", True), ("whole", False)):
        provider = {"kind": "openai", "stream": stream}
        desk.ok(*words, "--name", name, "--task", prompt(provider=provider))
    (streamed,), (whole,) = desk.trials("streamed"), desk.trials("whole")
    assert streamed["output"] == whole["output"]
    assert streamed["tokens"] == whole["tokens"]
    assert streamed["metrics"]["first_token_s"] <= streamed["duration_s"]
    assert "first_token_s" not in whole["metrics"]


def test_an_answer_ends_at_the_limit_at_a_stop_or_by_itself(desk: Desk) -> None:
    ends: dict[str, dict[str, Any]] = {
        "cut": {"max_tokens": 5},
        "stopped": {"params": {"stop": [" of"]}},
        "whole": {"max_tokens": 40},
    }
    for name, options in ends.items():
        task = prompt(template="What is the capital of France?", output="message", **options)
        words = ("exp", "run", "-d", "reviews", "--case", "soup", "--name", name)
        desk.ok(*words, "--task", task, "-g", '{"kind":"contains","values":"capital"}')
    (cut,), (stopped,), (whole,) = (desk.trials(name) for name in ("cut", "stopped", "whole"))
    assert cut["output"]["stop"] == "length"
    assert cut["tokens"]["output"] == 5
    assert cut["spans"][0]["note"] == "the answer was cut at 5 tokens"
    assert (stopped["output"]["text"], stopped["output"]["stop"]) == ("The capital", "end")
    assert whole["output"]["stop"] == "end"
    assert whole["output"]["text"].startswith(cut["output"]["text"])
    assert "Paris" in whole["output"]["text"]


def test_an_answer_by_a_schema_is_on_it(desk: Desk) -> None:
    schema: Any = {
        "type": "object",
        "properties": {"sentiment": {"type": "string", "enum": ["positive", "negative"]}},
        "required": ["sentiment"],
        "additionalProperties": False,
    }
    task = prompt(response_schema=schema, max_tokens=30)
    grader = json.dumps({"kind": "json_schema", "schema": schema})
    report = desk.json(
        "exp", "run", "-d", "reviews", "--first-n", "3", "--task", task, "-g", grader
    )
    assert (report["passed"], report["failed"]) == (3, 0)


def test_a_model_that_is_not_there_is_named_beside_the_nearest_that_is(desk: Desk) -> None:
    task = prompt(model="smollm2-135m-instrct")
    words = ("exp", "run", "-d", "reviews", "--case", "soup", "--name", "typo", "-g", "exact")
    desk.run(*words, "--task", task)
    (trial,) = desk.trials("typo")
    assert (trial["verdict"], trial["cause"]) == ("failed", "task")
    assert f"did you mean {INSTRUCT}?" in trial["reason"]


def test_a_server_that_is_gone_leaves_the_run_undecided(desk: Desk) -> None:
    words = ("exp", "run", "spec.yaml", "--first-n", "1", "--retries", "0", "--name", "gone")
    gone = desk.run(*words, env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})
    assert gone.code == 4
    assert {trial["cause"] for trial in desk.trials("gone")} == {"infra"}
