"""Every value of every format in turn is something else, and nothing crashes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.interchange.results.writers import (
    harbor_job,
    harbor_trial,
    inspect_header,
    inspect_sample,
    jsonl,
    output_item,
    promptfoo_result,
    raised,
)

from fairtrial.app.pushing.run import Settings, push_run
from fairtrial.interchange.results.contract import Asked
from fairtrial.interchange.results.recognising import recognise
from fairtrial.model.errors import FairtrialError

DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]
VALUES: tuple[Any, ...] = (
    None,
    "",
    "x" * 500,
    "a\x00b\x1b[31m\u202e@\n",
    -1,
    2**70,
    1e308,
    True,
    [],
    [None, 1, "x", {}],
    {},
    {"a": {"b": 1}},
    DEEP,
)


def inspect_document() -> Any:
    sample = inspect_sample("a", error={"message": "x"}, limit={"type": "time", "limit": 1})
    return {**inspect_header(1), "samples": [sample, inspect_sample("b")]}


def promptfoo_document() -> Any:
    rows = [promptfoo_result("a"), promptfoo_result("b", "other", prompt=1)]
    told = {"results": rows, "timestamp": "2026-11-29T12:00:00Z"}
    return {"evalId": "e", "results": told, "config": {"description": "d"}}


def swe_bench_document() -> Any:
    return {"submitted_ids": ["a", "b"], "resolved_ids": ["a"], "error_ids": ["b"]}


def plain_document() -> Any:
    row = {
        "id": "a",
        "input": "q",
        "expected": "e",
        "output": "o",
        "metadata": {"k": 1},
        "tags": ["t"],
        "split": "s",
        "condition": "c",
        "arm": "x",
        "model": "m",
        "trial": 1,
        "scores": {"exact": {"value": 1, "reason": "r"}},
        "passed": True,
        "reason": "r",
        "error": {"cause": "task", "reason": "r"},
        "started_at": "2026-11-29T12:00:00Z",
        "duration_s": 1,
        "cost_usd": 1,
        "tokens": {"input": 1},
        "metrics": {"n": 1},
        "spans": [{"name": "s"}],
    }
    return [row, {"id": "b", "input": "q", "score": 1}]


def own_document() -> Any:
    row = {
        "case_id": "a",
        "condition": "default",
        "arm": "main",
        "trial": 1,
        "verdict": "passed",
        "cause": None,
        "reason": None,
        "score": 1.0,
        "scores": [{"grader": "exact", "value": 1.0, "reason": "r"}],
        "output": "o",
        "started_at": "2026-11-29T12:00:00Z",
        "tokens": {"input": 1},
        "metrics": {"n": 1},
    }
    return [row, {**row, "case_id": "b"}]


def items_document() -> Any:
    error = {**output_item("a")["sample"], "error": {"code": "c", "message": "m"}}
    return {"object": "list", "data": [output_item("a"), output_item("b", sample=error)]}


def log_lines() -> Any:
    event = {"run_id": "r", "event_id": 0, "sample_id": "s", "created_at": "2026-11-29T12:00:00Z"}
    return [
        {"spec": {"completion_fns": ["m"], "eval_name": "e", "base_eval": "b"}},
        {**event, "type": "sampling", "data": {"prompt": [{"role": "u"}], "sampled": ["x"]}},
        {**event, "type": "match", "data": {"correct": True, "expected": "x"}},
        {**event, "type": "metrics", "data": {"accuracy": 1}},
        {**event, "type": "error", "data": {"type": "t", "message": "m"}},
        {"final_report": {}},
    ]


def harbor_result() -> Any:
    step = {"step_name": "s", "exception_info": raised("E", "m"), "agent_result": {"cost_usd": 1}}
    return harbor_trial("fix", 1, exception_info=raised("AgentTimeoutError"), step_results=[step])


def write_document(path: Path, document: Any) -> Path:
    path = path.with_suffix(".json")
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_lines(path: Path, rows: Any) -> Path:
    return jsonl(path.with_suffix(".jsonl"), rows if isinstance(rows, list) else [rows])


def write_job(path: Path, trial: Any) -> Path:
    job = harbor_job(path, [harbor_trial("ok", 1), harbor_trial("odd", 1)])
    (job / "odd__1" / "result.json").write_text(json.dumps(trial), encoding="utf-8")
    return job


FORMATS: dict[str, tuple[Callable[[], Any], Callable[[Path, Any], Path]]] = {
    "inspect": (inspect_document, write_document),
    "promptfoo": (promptfoo_document, write_document),
    "swe-bench": (swe_bench_document, write_document),
    "plain": (plain_document, write_document),
    "own": (own_document, write_lines),
    "items": (items_document, write_document),
    "oaieval": (log_lines, write_lines),
    "harbor": (harbor_result, write_job),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a document."""
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from places(inner, (*path, place))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a document with another value at a path."""
    if not path:
        return value
    found = copy.deepcopy(document)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_no_value_anywhere_does_harm(tmp_path: Path, name: str) -> None:
    make, write = FORMATS[name]
    document = make()
    taken = refused = 0
    step = len(VALUES) // 3
    tries = [
        (path, VALUES[(number + more) % len(VALUES)])
        for number, path in enumerate(places(document))
        for more in (0, step, 2 * step)
    ]
    for number, (path, value) in enumerate(tries):
        file = write(tmp_path / str(number), changed(document, path, value))
        try:
            for found in recognise(file, Asked()):
                pushed = push_run(found, Settings(Asked()), None, None)
                assert pushed.trials
                taken += 1
        except FairtrialError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"{path} = {str(value)[:40]}") from error
    assert taken > refused / 8


@pytest.mark.parametrize("name", ["junit", "csv", "eval"])
def test_no_byte_anywhere_does_harm(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"file.{name}"
    good = {
        "junit": b'<testsuite name="s"><testcase classname="c" name="n" time="1"><failure '
        b'message="m">text</failure></testcase></testsuite>',
        "csv": b"id,input,output,score.exact,tokens\na,q,o,1,{}\nb,q,o,0,\n",
        "eval": b"",
    }[name]
    if name == "eval":
        from tests.interchange.results.writers import inspect_archive  # noqa: PLC0415

        good = inspect_archive(path, [inspect_sample("a")]).read_bytes()
    step = max(1, len(good) // 60)
    for at in range(0, len(good), step):
        for mark in (0x00, 0x22, 0x3C, 0xFF, good[at] ^ 1):
            for bad in (good[:at] + bytes([mark]) + good[at + 1 :], good[:at]):
                path.write_bytes(bad)
                try:
                    for found in recognise(path, Asked()):
                        push_run(found, Settings(Asked()), None, None)
                except FairtrialError:
                    pass
                except Exception as error:
                    raise AssertionError(f"byte {at} = {mark}") from error
