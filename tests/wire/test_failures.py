"""Errors in every form that servers give them."""

from __future__ import annotations

import pytest

from fairtrial.wire.failures import ApiError, read_error


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (
            b'{"type":"error","error":{"type":"overloaded_error","message":"Busy"}}',
            ApiError("Busy", "overloaded_error"),
        ),
        (
            b'{"error":{"message":"No.","type":"x_error","param":null,"code":"insufficient_quota"}}',
            ApiError("No.", "x_error", "insufficient_quota"),
        ),
        (b'{"error":"model not found"}', ApiError("model not found")),  # Ollama
        (
            b'{"object":"error","message":"Bad","type":"BadRequestError","code":400}',  # vLLM
            ApiError("Bad", "BadRequestError", "400"),
        ),
        (b'{"detail":"Not Found"}', ApiError("Not Found")),
        (
            b'[{"error":{"code":400,"message":"Key!","status":"INVALID_ARGUMENT"}}]',
            ApiError("Key!", "INVALID_ARGUMENT", "400"),
        ),
        (b"<html> 502\n Bad Gateway", ApiError("<html> 502 Bad Gateway")),
        (b"", ApiError("(empty)")),
        (b'{"error":{"reason":7}}', ApiError("{'reason': 7}")),
        (b"[]", ApiError("[]")),
    ],
)
def test_what_an_error_says(body: bytes, error: ApiError) -> None:
    assert read_error(body) == error


def test_a_long_message_is_cut() -> None:
    assert len(read_error(b"x" * 10_000).message) < 600
