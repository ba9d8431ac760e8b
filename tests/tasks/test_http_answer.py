"""What a response means: its status, its body, and how long to wait."""

from __future__ import annotations

from typing import Any

import pytest

from fairtrial.model.errors import InfraError, TaskError
from fairtrial.tasks.http_answer import Response, problem_of, result_of


def _response(body: bytes, media_type: str = "application/json", **more: Any) -> Response:
    return Response(**{"status": 200, "charset": None, **more}, media_type=media_type, body=body)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "login"), (403, "login"), (407, "login"), (408, "server"), (429, "rate_limit"),
        (500, "server"), (503, "server"), (529, "server"),
    ],
)  # fmt: skip
def test_statuses_of_the_world(status: int, kind: str) -> None:
    problem = problem_of(_response(b"why", status=status, retry_after="7"), "POST http://x")
    assert type(problem) is InfraError
    assert problem.kind == kind
    assert problem.retry_after == (None if kind == "login" else 7.0)
    assert str(problem) == f"HTTP {status} from POST http://x: why"


@pytest.mark.parametrize("status", [304, 400, 404, 409, 422])
def test_statuses_of_the_task(status: int) -> None:
    problem = problem_of(_response(b"x" * 1000, status=status), "POST http://x")
    assert type(problem) is TaskError
    assert str(problem) == f"HTTP {status} from POST http://x: {'x' * 200}…"


def test_success_is_no_problem() -> None:
    assert problem_of(_response(b"", status=204), "GET http://x") is None


@pytest.mark.parametrize(
    ("response", "pointer", "output"),
    [
        (_response(b'{"a": [1]}'), None, {"a": [1]}),
        (_response(b'{"a": [1]}'), ("a", "0"), 1),
        (_response(b'{"a": 1}', "application/vnd.api+json"), None, {"a": 1}),
        (_response(b'{"a": 1}', "text/plain"), None, '{"a": 1}'),
        (_response(b'{"a": 1}', "text/plain"), ("a",), 1),
        (_response(b"na\xc3\xafve\n", "text/plain"), None, "naïve\n"),
        (_response(b"na\xefve", "text/plain", charset="latin-1"), None, "naïve"),
        (_response(b'"na\xefve"', charset="latin-1"), None, "naïve"),
        (_response(b'\xef\xbb\xbf{"a": 1}', charset="UTF-8"), None, {"a": 1}),
        (_response(b"", "text/plain", status=204), None, ""),
    ],
)
def test_the_output_is_the_body_or_a_part(
    response: Response, pointer: tuple[str, ...] | None, output: Any
) -> None:
    assert result_of(response, pointer, envelope=False).output == output


@pytest.mark.parametrize(
    ("response", "pointer", "message"),
    [
        (_response(b"{"), None, "not valid JSON: Input data was truncated; it begins: {"),
        (_response(b""), None, "it begins: (empty)"),
        (_response(b'{"a": NaN}'), None, "(byte 6)"),
        (_response(b'{"a": 1}'), ("b",), "no 'b' in the document, an object with a"),
        (_response(b"a\xff", "text/plain"), None, "not utf-8: byte 0xff at offset 1"),
        (_response(b"a", "text/plain", charset="klingon"), None, "unknown charset 'klingon'"),
        (_response(b"[" * 100_000), None, "not valid JSON"),
    ],
)
def test_a_body_that_is_not_what_it_should_be(
    response: Response, pointer: tuple[str, ...] | None, message: str
) -> None:
    with pytest.raises(TaskError) as caught:
        result_of(response, pointer, envelope=False)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("charset", "body"),
    [("idna", b"xn--" * 1000), ("undefined", b"x"), ("utf-7", b"+2AA-"), ("punycode", b"\xff")],
)
def test_an_odd_charset_is_the_tasks_fault(charset: str, body: bytes) -> None:
    with pytest.raises(TaskError, match=f"the response is not {charset}"):
        result_of(_response(body, "text/plain", charset=charset), None, envelope=False)
