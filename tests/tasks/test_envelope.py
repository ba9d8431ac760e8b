"""The envelope is read strictly, and a bad one is explained."""

from __future__ import annotations

import pytest

from fairtrial.model.errors import InfraError, TaskError
from fairtrial.model.task import TaskResult
from fairtrial.tasks.envelope import json_bytes, read_envelope


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "(empty)"),
        (b"[1]", "Expected 'object', got 'array'"),
        (b'{"output": 1} trailing', "(byte 15)"),
        (b'{"output": 1', "truncated"),
        (b"{}", "neither 'output' nor 'error'"),
        (b'{"output": 1, "cost": 2}', "unknown 'cost' (did you mean 'cost_usd'?)"),
        (b'{"output": 1, "tokens": {"inputs": 2}}', "did you mean 'input'?) in '$.tokens'"),
        (b'{"output": 1, "cost_usd": -0.5}', ">= 0.0 - at '$.cost_usd'"),
        (b'{"output": 1, "cost_usd": NaN}', "(byte 26)"),
        (b'{"output": NaN}', "(byte 11)"),
        (b'{"output": 1, "cost_usd": 1e999}', "out of range"),
        (b'{"output": 1, "cost_usd": "2"}', "got 'str'"),
        (b'{"output": 1, "tokens": {"input": -1}}', ">= 0"),
        (b'{"output": 1, "tokens": {"input": 99999999999999999999}}', "$.tokens.input"),
        (b'{"output": 1, "cost_usd": 1e308}', "<= 1000000000000.0 - at '$.cost_usd'"),
        (b'{"output": 1, "metrics": {"a": "b"}}', "$.metrics"),
        (b'{"output": 1, "spans": [1]}', "$.spans[0]"),
        (b'{"error": ""}', "length >= 1"),
        (b'{"output": "\xff"}', "UTF-8"),
        (b'{"output":' + b"[" * 100_000, "it begins"),
    ],
)
def test_a_bad_envelope_is_explained(data: bytes, message: str) -> None:
    with pytest.raises(TaskError) as caught:
        read_envelope(data, "stdout")
    assert message in str(caught.value)
    assert str(caught.value).startswith("bad envelope on stdout: ")
    assert len(str(caught.value)) < 400


def test_nulls_are_unknown_and_an_output_may_be_null() -> None:
    data = b'{"output":null,"cost_usd":null,"tokens":null,"metrics":null,"spans":null,"error":null}'
    assert read_envelope(data, "stdout") == TaskResult(None)


def test_only_the_beginning_of_a_bad_answer_is_shown() -> None:
    with pytest.raises(TaskError) as caught:
        read_envelope(b"x" * 1000, "stdout")
    assert str(caught.value).endswith("it begins: " + "x" * 200 + "…")


def test_half_a_character_survives_as_an_escape() -> None:
    assert json_bytes({"a": "\ud800ü"}) == b'{"a": "\\ud800\\u00fc"}'


def test_a_task_can_say_that_the_world_failed() -> None:
    data = b'{"error": "429 from the provider", "infra": "rate_limit", "retry_after_s": 2.5}'
    with pytest.raises(InfraError, match="429 from the provider") as caught:
        read_envelope(data, "stdout")
    assert (caught.value.kind, caught.value.retry_after) == ("rate_limit", 2.5)
    with pytest.raises(InfraError, match="a problem of kind login"):
        read_envelope(b'{"infra": "login"}', "stdout")
    with pytest.raises(TaskError, match="infra"):
        read_envelope(b'{"infra": "weather"}', "stdout")
