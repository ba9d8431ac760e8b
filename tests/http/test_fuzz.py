"""Requests that the description allows, and others: no defect, and answers that fit it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.http.api import Api, row
from tests.http.conftest import Server

schemathesis = pytest.importorskip(
    "schemathesis", reason="needs schemathesis: pip install 'fairtrial[test]'"
)

from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402  # after the skip
from schemathesis.checks import CHECKS  # noqa: E402
from schemathesis.generation import GenerationMode  # noqa: E402

WANTED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def modes(operation: Any) -> list[GenerationMode]:
    """Return what can be sent: a path takes any text, so only a query or a body can be wrong."""
    wrong = operation.query.items or operation.body.items
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if wrong else [])]


@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.slow)])
def test_no_request_finds_a_defect(server: Server, examples: int) -> None:
    api = Api(server)
    found = api.opened()
    api.done(f"/v2/experiments/{found}/rows", {"rows": [row("a"), row("b", 0)]})
    api.done(f"/v2/experiments/{found}/finish")
    document = {
        **api.document,
        "paths": {
            path: methods
            for path, methods in api.document["paths"].items()
            # A stream has no end, and OpenTelemetry has tests of its own.
            if path.startswith("/v2/") and path != "/v2/events"
        },
    }
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=server.url)
    checks = CHECKS.get_by_names(list(WANTED))
    problems: list[str] = []
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in modes(operation):
            strategy = operation.as_strategy(generation_mode=mode)

            @settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            )
            @given(strategy)
            def ask(case: Any) -> None:
                nonlocal tried
                tried += 1
                try:
                    case.call_and_validate(checks=checks)
                except Exception as error:  # noqa: BLE001  # all are told at once
                    problems.append(f"{case.operation.label}: {str(error)[:400]}")

            ask()
    assert problems == [], "\n\n".join(problems[:10])
    assert tried > 100
