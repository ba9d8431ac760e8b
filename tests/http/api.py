"""Asking a server as a program does: JSON in, JSON out, each answer held against its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from tests.http.conftest import Answer, Server

JSON = {"content-type": "application/json"}
GRADER = {"name": "ok"}


class Api:
    """The API of a server."""

    def __init__(self, server: Server, headers: Mapping[str, str] | None = None) -> None:
        self._server = server
        self._headers = dict(headers or {})
        self.document = server.ask("/v2/openapi.json", headers=self._headers).json

    def send(self, method: str, path: str, body: Any = None, key: str | None = None) -> Answer:
        """Return what is answered."""
        headers = {**self._headers, **JSON}
        if key is not None:
            headers["idempotency-key"] = key
        data = None if body is None else json.dumps(body).encode()
        answer = self._server.ask(path, method, data, headers)
        self._check(method, path, answer)
        return answer

    def ask(self, path: str) -> Any:
        """Return what is read."""
        answer = self.send("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def done(self, path: str, body: Any = None, key: str | None = None) -> Any:
        """Return what a POST answers that does what it should."""
        answer = self.send("POST", path, body, key)
        assert answer.status in (200, 201, 202), answer.body
        return answer.json

    def opened(self, **changes: Any) -> str:
        """Return the id of a new experiment."""
        told = {"name": "faq", "graders": [GRADER], **changes}
        return str(self.done("/v2/experiments", told)["id"])

    def _check(self, method: str, path: str, answer: Answer) -> None:
        route = _route(self.document, method, path.partition("?")[0])
        if route is None:
            return
        told = route["responses"].get(str(answer.status), route["responses"].get("default", {}))
        for content in told.get("content", {}).values():
            schema = {**content["schema"], "components": self.document["components"]}
            problems = [str(error)[:300] for error in _validator(schema).iter_errors(answer.json)]
            assert not problems, (method, path, problems[:3])


def _validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator(schema)


def _route(document: Mapping[str, Any], method: str, path: str) -> Any:
    words = path.split("/")
    fitting = [
        known
        for known in document["paths"]
        if len(known.split("/")) == len(words)
        and all(k == w or k.startswith("{") for k, w in zip(known.split("/"), words, strict=True))
    ]
    # A path without parameters in it is meant before one with.
    fitting.sort(key=lambda known: known.count("{"))
    return document["paths"][fitting[0]].get(method.lower()) if fitting else None


def row(case: str, value: float | None = 1, **changes: Any) -> dict[str, Any]:
    """Return a row of a case."""
    scores = {} if value is None else {"ok": value}
    return {"id": case, "input": case, "output": "out", "scores": scores, **changes}
