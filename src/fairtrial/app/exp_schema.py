"""`exp schema`: the JSON Schema of the spec file."""

from __future__ import annotations

import json

from fairtrial.app.bench import Bench
from fairtrial.app.gate_rules import rule_schema
from fairtrial.app.reports.document import DocumentReport, document
from fairtrial.app.requests.exp_run import Request as RunRequest
from fairtrial.app.requests.exp_schema import Request
from fairtrial.graders.registry import grader_schemas
from fairtrial.model.json import Json
from fairtrial.schema.json_schema import json_schema
from fairtrial.tasks.registry import TASKS

FILE = {"type": "string", "description": "Path of a file that holds it, from the spec's folder"}
NOT_IN_A_SPEC = ("spec", "dry_run", "replace_graders", "resume", "retry_errors")


def exp_schema(bench: Bench, request: Request) -> DocumentReport:
    """Return the schema as a document.

    Raises:
        UsageError: the file cannot be written.
    """
    text = json.dumps(spec_schema(), ensure_ascii=False, indent=2) + "\n"
    path = bench.output(request.output)
    return document("json", lambda stream: stream.write(text), path)


def spec_schema() -> dict[str, Json]:
    """Return the JSON Schema (2020-12) of a spec file, every kind of task and grader included."""
    schema = json_schema(
        RunRequest,
        title="fairtrial experiment spec",
        description="What `fairtrial exp run` runs: a dataset, a task, graders and how to run them",
    )
    properties = {
        name: value for name, value in schema["properties"].items() if name not in NOT_IN_A_SPEC
    }
    properties["task"] = {
        "description": properties["task"]["description"],
        "anyOf": [*TASKS.schemas({}), FILE],
    }
    properties["graders"]["items"] = {
        "anyOf": [
            {"type": "string", "description": "A kind, or the path of a file that holds a grader"},
            *grader_schemas(),
        ]
    }
    properties["gate"]["items"] = rule_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "properties": {"$schema": {"type": "string"}, **properties},
    }
