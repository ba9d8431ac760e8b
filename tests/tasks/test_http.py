"""HTTP tasks against a real server on the loopback interface."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from aiohttp import web

from fairtrial.model.errors import InfraError, TaskError, TrialTimeout, UsageError
from fairtrial.model.task import TaskCall, TaskResult, Tokens
from fairtrial.ports import Surroundings
from fairtrial.tasks.registry import build_task, task_spec
from fairtrial.testing.task import call_of
from fairtrial.workspaces.host.client import HostWorkspace

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

_SECRET = "sk-0123456789"  # noqa: S105  # what must not be shown


def _ask(
    handler: Handler, *calls: TaskCall, path: str = "/x", **options: Any
) -> list[TaskResult | BaseException]:
    """Serve `handler`, run calls at once, and return what each returned or raised."""

    async def main() -> list[TaskResult | BaseException]:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            return await _run({"url": base + path, **options}, *calls, base=base)
        finally:
            await runner.cleanup()

    return asyncio.run(main())


async def _run(
    options: dict[str, Any], *calls: TaskCall, base: str = ""
) -> list[TaskResult | BaseException]:
    environ = {"API_KEY": _SECRET, "BASE": base, "SHORT": "on"}
    surroundings = Surroundings(Path(), environ, HostWorkspace(1))
    task = build_task(task_spec({"kind": "http", **options}, "spec"), surroundings, "spec")
    try:
        await task.open()
        return await asyncio.gather(*map(task.run, calls), return_exceptions=True)
    finally:
        await task.close()


async def _mirror(request: web.Request) -> web.Response:
    return web.json_response(
        {
            "method": request.method,
            "path": request.path,
            "query": dict(request.query),
            "headers": {name.lower(): value for name, value in request.headers.items()},
            "body": await request.text(),
        }
    )


def _mirrored(*calls: TaskCall, **options: Any) -> dict[str, Any]:
    (result,) = _ask(_mirror, *(calls or (call_of({"q": "ü"}),)), **options)
    assert isinstance(result, TaskResult), result
    assert isinstance(result.output, dict)
    return result.output


def test_the_input_is_posted_as_json() -> None:
    seen = _mirrored()
    assert (seen["method"], seen["path"], seen["body"]) == ("POST", "/x", '{"q":"ü"}')
    assert seen["headers"]["content-type"] == "application/json"
    assert seen["headers"]["user-agent"].startswith("fairtrial/")
    assert "cookie" not in seen["headers"]


def test_body_query_headers_and_url_are_filled() -> None:
    seen = _mirrored(
        url="${BASE}/y?fixed=1",
        headers={"Authorization": "Bearer ${API_KEY}", "X-Escaped": "$${API_KEY}"},
        query={"q": "{{input.q}}", "seed": "{{seed}}", "switch": "${SHORT}"},
        body={"question": "{{input.q}}", "id": "<{{case_id}}>", "whole": "{{input}}"},
        method="put",
    )
    assert (seen["method"], seen["path"]) == ("PUT", "/y")
    assert seen["query"] == {"fixed": "1", "q": "ü", "seed": "7", "switch": "on"}
    assert seen["body"] == '{"question":"ü","id":"<c1>","whole":{"q":"ü"}}'
    assert seen["headers"]["authorization"] == f"Bearer {_SECRET}"
    assert seen["headers"]["x-escaped"] == "${API_KEY}"


def test_get_has_no_body() -> None:
    seen = _mirrored(method="GET", query={"q": "{{input}}"})
    assert (seen["body"], seen["query"]) == ("", {"q": '{"q":"ü"}'})
    assert "content-type" not in seen["headers"]


def test_a_text_goes_out_as_it_is_under_another_content_type() -> None:
    plain = {"Content-Type": "text/plain"}
    assert _mirrored(headers=plain, body="Q: {{input.q}}")["body"] == "Q: ü"
    assert _mirrored(body="Q: {{input.q}}")["body"] == '"Q: ü"'


def test_a_large_input_and_a_pointer() -> None:
    (result,) = _ask(_mirror, call_of("x" * 5_000_000), output="/body")
    assert isinstance(result, TaskResult)
    assert len(result.output) == 5_000_002


def test_an_envelope_goes_both_ways() -> None:
    async def answer(request: web.Request) -> web.Response:
        told = await request.json()
        return web.json_response({"output": told, "cost_usd": 0.5, "tokens": {"output": 9}})

    (result,) = _ask(answer, call_of("in", expected="hidden"), envelope=True)
    assert isinstance(result, TaskResult)
    assert (result.output["input"], result.output["case_id"]) == ("in", "c1")
    assert "expected" not in result.output
    assert (result.cost_usd, result.tokens) == (0.5, Tokens(output=9))


def test_one_connection_is_kept_and_no_cookie_links_two_trials() -> None:
    ports: set[int] = set()
    cookies: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        cookies.extend(request.cookies)
        return web.Response(text="fine", headers={"Set-Cookie": "trial=1"})

    async def main() -> None:
        runner = web.ServerRunner(web.Server(answer))  # type: ignore[arg-type]
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        surroundings = Surroundings(Path(), {}, HostWorkspace(1))
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        task = build_task(task_spec({"kind": "http", "url": url}, "spec"), surroundings, "spec")
        await task.open()
        for _ in range(5):
            assert (await task.run(call_of("x"))).output == "fine"
        await task.close()
        await runner.cleanup()

    asyncio.run(main())
    assert len(ports) == 1
    assert cookies == []


def test_many_requests_are_in_flight_at_once() -> None:
    together = 0
    most = 0

    async def answer(_: web.Request) -> web.Response:
        nonlocal together, most
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.2)
        together -= 1
        return web.Response(text="fine")

    _ask(answer, *(call_of(n) for n in range(120)))
    assert most == 120


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [(429, InfraError, "rate_limit"), (503, InfraError, "server"), (404, TaskError, None)],
)
def test_a_bad_status_is_told_without_secrets(
    status: int, error: type[Exception], kind: str | None
) -> None:
    async def answer(request: web.Request) -> web.Response:
        text = f"refused {request.headers['Authorization']}"
        return web.Response(status=status, text=text, headers={"Retry-After": "3"})

    headers = {"Authorization": "Bearer ${API_KEY}"}
    (problem,) = _ask(answer, call_of("x"), url="${BASE}/y", headers=headers)
    assert type(problem) is error
    assert str(problem) == f"HTTP {status} from POST ${{BASE}}/y: refused Bearer ${{API_KEY}}"
    assert _SECRET not in repr(problem)
    assert getattr(problem, "kind", None) == kind
    assert getattr(problem, "retry_after", None) == (3.0 if kind else None)


@pytest.mark.parametrize("length", [100, 10_000_000])
def test_a_broken_body_is_the_networks_fault(length: int) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(length)})
        await response.prepare(request)
        await response.write(b"only this")
        assert request.transport is not None
        request.transport.close()
        return response

    (problem,) = _ask(answer, call_of("x"))
    assert isinstance(problem, InfraError)
    assert problem.kind == "network"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://no-such-host.invalid/",
        "https://127.0.0.1:{port}/",
    ],
)
def test_no_connection_is_the_networks_fault(url: str) -> None:
    async def main() -> BaseException | TaskResult:
        async def slam(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        server = await asyncio.start_server(slam, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            (problem,) = await _run({"url": url.format(port=port)}, call_of("x"))
        return problem

    problem = asyncio.run(main())
    assert isinstance(problem, InfraError), problem
    assert problem.kind == "network"


def test_too_large_a_response_names_the_option() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text="x" * 100_000)

    (problem,) = _ask(answer, call_of("x"), max_output=50_000)
    assert isinstance(problem, TaskError)
    assert str(problem) == "more than 50,000 bytes in the response (option 'max_output')"


def test_a_huge_error_page_keeps_its_status() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=502, text="bad gateway " + "x" * 1_000_000)

    (problem,) = _ask(answer, call_of("x"), max_output=50_000)
    assert isinstance(problem, InfraError)
    assert str(problem).startswith("HTTP 502 from POST")


@pytest.mark.parametrize("headers_first", [False, True])
def test_over_the_time_limit(headers_first: bool) -> None:  # noqa: FBT001  # a parameter of the test
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        if headers_first:
            await response.prepare(request)
        await asyncio.sleep(5)
        return response

    start = time.monotonic()
    (problem,) = _ask(answer, call_of("x", limit_s=0.3))
    assert type(problem) is TrialTimeout
    assert str(problem) == "over the time limit of 0.3 s"
    assert time.monotonic() - start < 3


@pytest.mark.parametrize(("status", "method"), [(302, "GET"), (303, "GET"), (307, "POST")])
def test_a_redirect_on_the_same_host_is_followed(status: int, method: str) -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/x":
            return web.Response(status=status, headers={"Location": "/there"})
        return await _mirror(request)

    (result,) = _ask(answer, call_of("in"))
    assert isinstance(result, TaskResult)
    assert (result.output["path"], result.output["method"]) == ("/there", method)
    assert result.output["body"] == ('"in"' if method == "POST" else "")


def test_a_moved_put_stays_a_put() -> None:
    async def answer(request: web.Request) -> web.Response:
        if request.path == "/x":
            return web.Response(status=302, headers={"Location": "/there"})
        return await _mirror(request)

    (result,) = _ask(answer, call_of("in"), method="PUT")
    assert isinstance(result, TaskResult)
    assert (result.output["method"], result.output["body"]) == ("PUT", '"in"')


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/again", "more than 5 redirects"),
        ("http://localhost:1/", "redirected to http://localhost, another place"),
        ("http://[", "redirected to no URL"),
    ],
)
def test_other_redirects_are_refused(location: str, message: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": location})

    (problem,) = _ask(answer, call_of("x"))
    assert isinstance(problem, TaskError)
    assert message in str(problem)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "localhost:8000"}, "is no http or https URL"),
        ({"url": "ftp://x/"}, "is no http or https URL"),
        ({"url": "http://"}, "is no http or https URL"),
        ({"url": "http://x:99999/"}, "is no http or https URL"),
        ({"url": "http://a b/"}, "is no http or https URL"),
        ({"url": "${ABSENT}/x"}, "${ABSENT} is not set"),
        ({"method": "PSOT"}, "did you mean 'POST'?"),
        ({"headers": {"A": "${ABSENT}"}}, "${ABSENT} is not set"),
        ({"headers": {"A b": "x"}}, "cannot be the name of a header"),
        ({"headers": {"A": "x\ny"}}, "more than one line"),
        ({"query": {"a": "{{nope}}"}}, "unknown 'nope'"),
        ({"body": {"a": "{{expected}}"}}, "a task never sees what is expected"),
        ({"output": "choices/0"}, "must start with '/'"),
        ({"envelope": True, "output": "/a"}, "'body' and 'output' have no place then"),
    ],
)
def test_what_cannot_be_sent_is_told_before_the_run(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        asyncio.run(_run({"url": "http://127.0.0.1:9/", **options}))
    assert message in str(caught.value)
    assert "spec" in str(caught.value.where)


def test_a_bad_body_is_told_without_secrets() -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"seen": request.headers["X-Key"]})

    (problem,) = _ask(answer, call_of("x"), headers={"X-Key": "${API_KEY}"}, output="/nothing")
    assert isinstance(problem, TaskError)
    assert str(problem).endswith('it begins: {"seen": "${API_KEY}"}')
