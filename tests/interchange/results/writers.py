"""Small writers of what other tools leave behind, as their real files were seen to look."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard


def inspect_sample(case: str, epoch: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a sample of a log of Inspect AI that was answered correctly."""
    return {
        "id": case,
        "epoch": epoch,
        "input": f"What is {case}?",
        "target": "A",
        "messages": [
            {"id": f"m{epoch}", "role": "user", "content": f"What is {case}?", "source": "input"},
            {"id": f"n{epoch}", "role": "assistant", "content": "A"},
        ],
        "output": {"model": "m", "choices": [], "completion": "A"},
        "scores": {"match": {"value": "C", "answer": "A", "explanation": "as wanted"}},
        "metadata": {"k": case},
        "model_usage": {
            "m": {
                "input_tokens": 7,
                "output_tokens": 2,
                "input_tokens_cache_read": 5,
                "total_cost": 0.5,
            }
        },
        "started_at": "2026-11-29T12:00:00+00:00",
        "total_time": 9.0,
        "working_time": 2.5,
        **changes,
    }


def inspect_header(n: int, **changes: Any) -> dict[str, Any]:
    """Return the header of a log with so many samples."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "evals/sums",
            "run_id": "r",
            "model": "openai/gpt",
            "dataset": {"name": "arithmetic", "samples": n},
            "scorers": [{"name": "match"}],
            "revision": {"type": "git", "commit": "abcdef1", "dirty": False},
        },
        "plan": {"name": "plan"},
        "results": {"total_samples": n},
        "stats": {},
        **changes,
    }


def inspect_json(path: Path, samples: Sequence[dict[str, Any]], **changes: Any) -> Path:
    """Write a log as one document; Python writes NaN as Inspect AI does."""
    header = inspect_header(len(samples), **changes)
    path.write_text(json.dumps({**header, "samples": samples}), encoding="utf-8")
    return path


def inspect_archive(
    path: Path,
    samples: Sequence[dict[str, Any]],
    *,
    method: int = 93,
    header: bool = True,
    **changes: Any,
) -> Path:
    """Write a log as an archive, as Inspect AI does: members are compressed with Zstandard."""
    told = inspect_header(len(samples), **changes)
    start = {"version": 2, "eval": told["eval"], "plan": told["plan"]}
    members = {"_journal/start.json": start}
    members |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    if header:
        members["header.json"] = told
    archive(path, {name: json.dumps(value).encode() for name, value in members.items()}, method)
    return path


def archive(path: Path, members: Mapping[str, bytes], method: int = 93) -> None:
    """Write a zip file; `zipfile` cannot write Zstandard, so its entries are marked afterwards."""
    if method != 93:
        with zipfile.ZipFile(path, "w", method) as plain:
            for name, data in members.items():
                plain.writestr(name, data)
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        for name, data in members.items():
            packed.writestr(name, zstandard.ZstdCompressor().compress(data))
    marked = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = marked.find(mark)
        while at >= 0:
            marked[at + place : at + place + 2] = (93).to_bytes(2, "little")
            at = marked.find(mark, at + 4)
    path.write_bytes(marked)


def promptfoo_result(
    city: str, provider: str = "openai:gpt", *, prompt: int = 0, test: int = 0, **changes: Any
) -> dict[str, Any]:
    """Return a result of promptfoo that passed."""
    return {
        "promptIdx": prompt,
        "testIdx": test,
        "promptId": "p",
        "provider": {"id": provider, "label": ""},
        "prompt": {"raw": f"Say {city}", "label": "Say {{city}}"},
        "vars": {"city": city, "sessionId": f"random {test}"},
        "testCase": {
            "vars": {"city": city},
            "assert": [{"type": "contains", "value": city}],
            "options": {},
            "metadata": {},
        },
        "response": {
            "output": f"It is {city}",
            "tokenUsage": {"prompt": 5, "completion": 3, "total": 8},
            "cached": False,
        },
        "success": True,
        "score": 1,
        "namedScores": {},
        "failureReason": 0,
        "gradingResult": {
            "pass": True,
            "score": 1,
            "reason": "All assertions passed",
            "componentResults": [
                {"pass": True, "score": 1, "reason": "ok", "assertion": {"type": "contains"}}
            ],
        },
        "latencyMs": 250,
        "cost": 0.002,
        **changes,
    }


def promptfoo(path: Path, results: Sequence[dict[str, Any]], **config: Any) -> Path:
    """Write results of promptfoo."""
    document = {
        "evalId": "eval-1",
        "results": {
            "version": 3,
            "timestamp": "2026-11-29T12:00:00.000Z",
            "prompts": [],
            "results": list(results),
            "stats": {},
        },
        "config": config,
        "shareableUrl": None,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def harbor_trial(task: str, attempt: int, reward: float | None = 1.0, **changes: Any) -> Any:
    """Return the result of a trial of Harbor."""
    return {
        "id": "0",
        "task_name": task,
        "trial_name": f"{task}__{attempt}",
        "source": "bench",
        "task_checksum": "sum",
        "config": {"agent": {"name": "claude-code", "model_name": "sonnet"}},
        "agent_info": {"name": "claude-code", "version": "2", "model_info": {"name": "sonnet"}},
        "agent_result": {
            "n_input_tokens": 100,
            "n_cache_tokens": 80,
            "n_output_tokens": 9,
            "cost_usd": 0.25,
        },
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None,
        "started_at": "2026-11-29T12:00:00Z",
        "finished_at": "2026-11-29T12:09:00Z",
        "agent_execution": {
            "started_at": "2026-11-29T12:01:00Z",
            "finished_at": "2026-11-29T12:01:30Z",
        },
        "step_results": None,
        **changes,
    }


def raised(kind: str, message: str = "") -> dict[str, Any]:
    """Return an exception as Harbor writes it down."""
    return {"exception_type": kind, "exception_message": message, "exception_traceback": "…"}


def harbor_job(
    folder: Path, trials: Iterable[Mapping[str, Any]], planned: int | None = None
) -> Path:
    """Write the folder of a job."""
    folder.mkdir(parents=True)
    given = list(trials)
    for trial in given:
        inner = folder / str(trial["trial_name"])
        (inner / "agent").mkdir(parents=True)
        (inner / "config.json").write_text("{}", encoding="utf-8")
        (inner / "result.json").write_text(json.dumps(trial), encoding="utf-8")
    (folder / "config.json").write_text(
        json.dumps({"job_name": folder.name, "agents": [{"name": "claude-code"}]}),
        encoding="utf-8",
    )
    total = len(given) if planned is None else planned
    (folder / "result.json").write_text(
        json.dumps({"id": "job", "n_total_trials": total, "stats": {}}), encoding="utf-8"
    )
    return folder


def output_item(question: str, status: str = "pass", place: int = 0, **changes: Any) -> Any:
    """Return an output item of OpenAI Evals."""
    return {
        "object": "eval.run.output_item",
        "id": f"outputitem_{place}",
        "run_id": "evalrun_1",
        "eval_id": "eval_1",
        "created_at": 1_764_417_600,
        "status": status,
        "datasource_item_id": place,
        "datasource_item": {"question": question},
        "results": [
            {
                "name": "Match-c4fdf789-2fa5-407f-8a41-a6f4f9afd482",
                "type": "string_check",
                "passed": status == "pass",
                "score": float(status == "pass"),
            }
        ],
        "sample": {
            "input": [{"role": "user", "content": question}],
            "output": [{"role": "assistant", "content": "yes"}],
            "model": "gpt-5",
            "usage": {
                "prompt_tokens": 10,
                "completion_tokens": 2,
                "total_tokens": 12,
                "cached_tokens": 4,
            },
            "error": None,
        },
        **changes,
    }


def jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write values, one a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
