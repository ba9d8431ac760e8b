"""The requests that Claude Code logs in its transcripts, put together again.

A logged request names its messages by hash: so many of an earlier request, and those that are new.
New ones are the turns of the transcript, or stand in the log themselves.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairtrial.model.call import Api, WireCall
from fairtrial.sessions.requests.conversation import Record, turns

KINDS: Final = frozenset({"api-request", "api-request-shape", "api-request-blob"})
"""Types of the records of the log."""
_VERSION: Final = "2023-06-01"


class LostError(Exception):
    """A request cannot be put together; the message says why."""


DAMAGE: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What comes of records that have another form than the agent writes."""


def logged_request(records: Sequence[Record | None], position: int) -> WireCall:
    """Return the request that followed a record of the transcript.

    Args:
        records: The records of a file: turns and log.
        position: Where the last thing stands that the model was told.

    Raises:
        LostError: it was not logged, or a part of it is missing, damaged or has another hash.
    """
    try:
        return _put_together(records, position)
    except DAMAGE as error:
        raise LostError("its records have a form that is not known") from error


def _put_together(records: Sequence[Record | None], position: int) -> WireCall:
    log = {r["id"]: r for r in records if r is not None and r.get("type") == "api-request"}
    if not log:
        raise LostError("this release of Claude Code logs no requests")
    request, answer = _following(records, position, log)
    shape = next(
        (
            r.get("shape")
            for r in records
            if r is not None
            and r.get("type") == "api-request-shape"
            and r.get("shapeHash") == request.get("shapeHash")
        ),
        None,
    )
    if not isinstance(shape, Mapping):
        raise LostError("its instructions and tools are not in the log")
    wanted = _hashes(request, log)
    # Results of one step stand in records of their own, and some may come after this one.
    told = max(
        place
        for place, record in enumerate(records[:answer])
        if place <= position or (record is not None and record.get("type") == "user")
    )
    messages = _messages(records, told, wanted)
    params = dict(request.get("params") or {})
    betas = params.pop("betas", None)
    body = {**params, **copy.deepcopy(dict(shape)), "messages": messages}
    for mark in request.get("cacheControl") or ():
        _set(body, mark.get("path"), mark.get("value"))
    headers = {"anthropic-version": _VERSION}
    if isinstance(betas, list) and betas:
        headers["anthropic-beta"] = ",".join(map(str, betas))
    return WireCall(Api.ANTHROPIC_MESSAGES, body, headers)


def _following(
    records: Sequence[Record | None], position: int, log: Mapping[str, Record]
) -> tuple[Record, int]:
    """Return the request whose answer came next, and where that begins; the answer names it."""
    for place, record in enumerate(records[position + 1 :], position + 1):
        if record is None:
            continue
        if record.get("type") == "assistant":
            found = log.get(str(record.get("requestRef")))
            if found is not None:
                return found, place
            if "requestRef" in record:
                break
        elif record.get("type") == "user" and _is_prompt(record):
            break
    raise LostError("the request after this moment was not logged")


def _is_prompt(record: Record) -> bool:
    content = (record.get("message") or {}).get("content")
    return isinstance(content, str) and not record.get("isMeta")


def _hashes(request: Record, log: Mapping[str, Record]) -> list[str]:
    chain = [request]
    while chain[-1].get("base") is not None:
        base = log.get(str(chain[-1]["base"]))
        if base is None or len(chain) > len(log):
            raise LostError("a request that it goes on from is not in the log")
        chain.append(base)
    found: list[str] = []
    for one in reversed(chain):
        keep = one.get("keep") or 0
        if not 0 <= keep <= len(found):
            raise LostError("it keeps messages that the one before it did not have")
        found = found[:keep] + list(one.get("tail") or ())
    return found


def _messages(
    records: Sequence[Record | None], position: int, wanted: Sequence[str]
) -> list[dict[str, Any]]:
    known = {
        r["hash"]: r["message"]
        for r in records
        if r is not None and r.get("type") == "api-request-blob" and "message" in r
    }
    if not set(wanted) <= known.keys():
        for turn in turns(records, position):
            message = turn.message()
            known.setdefault(digest(message), message)
    lost = [name for name in wanted if name not in known]
    if lost:
        raise LostError(
            f"{len(lost)} of its {len(wanted)} messages are not in the transcript as sent"
        )
    return copy.deepcopy([known[name] for name in wanted])


def digest(message: Any) -> str:
    """Return the hash that Claude Code names a message by: without marks for the cache."""
    words = json.dumps(
        _unmarked(message), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _unmarked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    return [_unmarked(one) for one in value] if isinstance(value, list) else value


def _set(body: dict[str, Any], path: Any, value: Any) -> None:
    place: Any = body
    try:
        for name in path:
            place = place[name]
        if isinstance(place, dict):
            place["cache_control"] = value
    except (KeyError, IndexError, TypeError):
        return
