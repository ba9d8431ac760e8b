"""The reference of the API is made of its description, and that of the reference of reports."""

from __future__ import annotations

import json
import re
from pathlib import Path

from fairtrial.http import reference
from fairtrial.http.answers import report_schemas

ROOT = Path(reference.__file__).parents[3]
DOCS = ROOT / "docs" / "reference"
AGAIN = "run: python -m fairtrial.http.reference"


def test_the_schemas_are_those_of_the_reference() -> None:
    text = reference.answers((DOCS / "json.md").read_text(encoding="utf-8"))
    assert json.loads(text) == report_schemas(), AGAIN


def test_the_page_is_that_of_the_description(folder: Path) -> None:
    del folder
    page = reference.api_page(reference.description())
    assert page == (DOCS / "http-api.md").read_text(encoding="utf-8"), AGAIN


def test_the_description_is_complete(folder: Path) -> None:
    del folder
    document = reference.description()
    assert document["openapi"].startswith("3.1")
    text = json.dumps(document)
    known = set(document["components"]["schemas"])
    assert set(re.findall(r"#/components/schemas/([^\"]+)", text)) <= known
    names = set()
    for path, methods in document["paths"].items():
        in_path = set(re.findall(r"{(\w+)}", path))
        for method, route in methods.items():
            names.add(route["operationId"])
            told = {one["name"] for one in route.get("parameters", ()) if one["in"] == "path"}
            assert told == in_path, path
            good = [answer for status, answer in route["responses"].items() if status != "default"]
            assert all(answer.get("content") for answer in good), path
            assert ("requestBody" in route) <= (method != "get"), path
    assert len(names) == sum(len(methods) for methods in document["paths"].values())
