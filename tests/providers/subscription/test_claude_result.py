"""Every way in which `claude -p` ends, as a program prints it that stands in for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.providers.subscription.lab import Lab, question

from fairtrial.model.call import StopReason
from fairtrial.model.errors import InfraError, ProviderError, TrialProblem
from fairtrial.model.task import Tokens

USED = {
    "inputTokens": 100,
    "outputTokens": 50,
    "cacheReadInputTokens": 10000,
    "cacheCreationInputTokens": 2000,
    "thinkingTokens": 7,
    "costUSD": 0.0067,
    "costBasis": "list",
}


def printed(**changed: Any) -> str:
    """Return what it prints when it is done, with fields changed."""
    result = {
        "type": "result",
        "subtype": "success",
        "is_error": False,
        "result": "Hello there",
        "num_turns": 1,
        "stop_reason": "end_turn",
        "terminal_reason": "completed",
        "api_error_status": None,
        "total_cost_usd": 0.0067,
        "usage": {"input_tokens": 1, "output_tokens": 1},
        "modelUsage": {"claude-sonnet-5-5": USED},
        **changed,
    }
    return json.dumps(result) + "\n"


def failed(words: str, status: int | None = None, **changed: Any) -> str:
    """Return what it prints when the API failed: `subtype` says success all the same."""
    trouble = {"is_error": True, "terminal_reason": "api_error", "stop_reason": "stop_sequence"}
    return printed(
        **{**trouble, "result": words, "api_error_status": status, "modelUsage": {}, **changed}
    )


def problem(lab: Lab, stdout: str, status: int = 1, stderr: str = "") -> TrialProblem:
    lab.log_in("claude-code")
    program = lab.printing(stdout, status=status, stderr=stderr)
    return lab.refused(lab.provider("claude-code", program), question())


def reply(lab: Lab, stdout: str, **ending: Any) -> Any:
    lab.log_in("claude-code")
    return lab.ask(lab.provider("claude-code", lab.printing(stdout, **ending)), question())


def test_an_answer_with_its_usage_of_all_turns_and_what_the_api_would_have_charged(
    lab: Lab,
) -> None:
    answer = reply(lab, printed())
    assert (answer.text, answer.model, answer.stop) == (
        "Hello there",
        "claude-sonnet-5-5",
        StopReason.END,
    )
    assert answer.tokens == Tokens(100, 50, 10000, 2000, 7)
    assert answer.cost_usd == 0.0067


def test_an_answer_to_a_schema_is_its_json(lab: Lab) -> None:
    answer = reply(lab, printed(result="ok", structured_output={"a": "ü"}))
    assert answer.text == '{"a": "ü"}'


def test_lines_around_the_result_do_no_harm(lab: Lab) -> None:
    noise = '[claude-code:unrecognized_model] {"model":"x"}\n{torn\n{"type":"system"}\n'
    assert reply(lab, noise + printed(result="first") + printed(result="last")).text == "last"


def test_half_a_character_and_an_impossible_count_are_not_taken(lab: Lab) -> None:
    odd = {"claude-sonnet-5-5": {**USED, "thinkingTokens": 51, "inputTokens": -1}}
    answer = reply(lab, printed(result="a\ud83d", modelUsage=odd))
    assert answer.text == "a?"
    assert (answer.tokens.input, answer.tokens.reasoning) == (None, None)


def test_a_cost_that_it_guesses_is_not_taken(lab: Lab) -> None:
    guess = {"nope-1": {**USED, "costBasis": "unknown"}}
    assert reply(lab, printed(modelUsage=guess)).cost_usd is None


def test_the_price_list_knows_what_it_does_not(lab: Lab) -> None:
    class Flat:
        def cost_usd(self, model: str, tokens: Tokens) -> float | None:
            return float(tokens.input or 0) if model == "nope-1" else None

        def knows(self, model: str) -> bool:
            return model == "nope-1"

    lab.prices = Flat()
    guess = {"nope-1": {**USED, "costBasis": "unknown"}}
    assert reply(lab, printed(modelUsage=guess)).cost_usd == 100.0


def test_a_refusal_is_an_answer_without_words(lab: Lab) -> None:
    words = "API Error: Sonnet 5.5's safeguards flagged this message"
    kept: Any = {"modelUsage": {"claude-sonnet-5-5": USED}, "stop_reason": "refusal"}
    answer = reply(lab, failed(words, **kept), status=1)
    assert (answer.text, answer.stop, answer.tokens.output) == ("", StopReason.REFUSAL, 50)


def test_an_answer_over_its_limit_is_cut(lab: Lab) -> None:
    words = "API Error: Claude's response exceeded the 128000 output token maximum. To configure"
    answer = reply(lab, failed(words), status=1)
    assert (answer.text, answer.stop) == ("", StopReason.LENGTH)


@pytest.mark.parametrize(
    ("words", "status", "kind"),
    [
        ("Failed to authenticate. API Error: 401 OAuth token has expired.", 401, "login"),
        ("Failed to authenticate. API Error: 403 no", 403, "login"),
        ("Not logged in · Please run /login", None, "login"),
        ("API Error: Request rejected (429) · fake 429", 429, "rate_limit"),
        (
            "API Error: Server is temporarily limiting requests (not your usage limit) · x",
            429,
            "rate_limit",
        ),
        ("Claude AI usage limit reached|1795990000", 429, "quota"),
        ("You've hit your 5-hour limit · resets 6:44pm (UTC)", 429, "quota"),
        ("You've hit your weekly limit · resets Dec 2, 12:54am (UTC)", None, "quota"),
        ("Credit balance is too low", 400, "quota"),
        ("API Error: 500 fake 500. This is a server-side issue, usually temporary", 500, "server"),
        ("API Error: 529 fake 529. This is a server-side issue", 529, "server"),
        ("API Error: Connection refused — a firewall may be blocking it", None, "network"),
        ("API Error: Unable to connect to API (ENOTFOUND)", None, "network"),
    ],
)
def test_trouble_of_the_world(lab: Lab, words: str, status: int | None, kind: str) -> None:
    caught = problem(lab, failed(words, status))
    assert isinstance(caught, InfraError)
    assert (caught.kind, words[:40] in str(caught)) == (kind, True)


def test_a_spent_limit_says_when_it_is_lifted(lab: Lab) -> None:
    caught = problem(lab, failed("Claude AI usage limit reached|1795990000", 429))
    assert "(resets 2026-11-29 22:06 UTC)" in str(caught)


def test_a_spent_limit_is_known_by_its_name_too(lab: Lab) -> None:
    caught = problem(lab, failed("Something new", 429, api_error="usage_limit_reached"))
    assert isinstance(caught, InfraError)
    assert caught.kind == "quota"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"terminal_reason": "prompt_too_long", "api_error_status": 400}, "Prompt is too long"),
        ({"api_error_status": 404}, "Prompt is too long"),
        (
            {"terminal_reason": "max_turns", "subtype": "error_max_turns", "result": None},
            "asked for a tool, or missed the schema",
        ),
        (
            {
                "terminal_reason": "budget_exhausted",
                "result": None,
                "errors": ["Reached the budget"],
            },
            "Reached the budget",
        ),
    ],
)
def test_what_would_be_refused_again(lab: Lab, changed: dict[str, Any], message: str) -> None:
    caught = problem(lab, failed("Prompt is too long · the request is", **changed))
    assert isinstance(caught, ProviderError)
    assert message in str(caught)


def test_a_text_that_it_took_for_a_command_asked_no_model(lab: Lab) -> None:
    took = printed(result="/x isn't available in this environment.", num_turns=0, modelUsage={})
    caught = problem(lab, took, status=0)
    assert isinstance(caught, ProviderError)
    assert "asked no model" in str(caught)


def test_an_interrupt_ends_with_status_0_and_is_no_answer(lab: Lab) -> None:
    stopped = failed("", terminal_reason="aborted_tools", subtype="error_during_execution")
    caught = problem(lab, stopped, status=0)
    assert isinstance(caught, InfraError)
    assert caught.kind == "setup"


@pytest.mark.parametrize("status", [143, 137])
def test_a_signal_leaves_nothing_printed(lab: Lab, status: int) -> None:
    caught = problem(lab, "", status=status)
    assert isinstance(caught, InfraError)
    assert "ended from outside" in str(caught)


def test_a_signal_that_kills_it(lab: Lab) -> None:
    lab.log_in("claude-code")
    program = lab.stand_in("import os\nos.kill(os.getpid(), 15)\n")
    caught = lab.refused(lab.provider("claude-code", program), question())
    assert isinstance(caught, InfraError)
    assert "signal 15" in str(caught)


@pytest.mark.parametrize(
    "words",
    [
        "Error: --json-schema is not a valid JSON Schema: data/type must be equal",
        "error: unknown option '--system-prompt-file'",
        "Error: piped stdin input exceeds 10MB. Pass large content as a file path",
    ],
)
def test_what_it_says_before_it_starts(lab: Lab, words: str) -> None:
    caught = problem(lab, "", stderr=words + "\n")
    assert isinstance(caught, ProviderError)
    assert words in str(caught)
