"""When two requests are the same: what differs between two identical runs is left out.

Coding agents put ids, dates, times and the names of temporary folders into what they send. A
request's *canonical form* is its body without them; its hash is what a replay looks for.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from typing import Any

import msgspec

from fairtrial.model.json import Json
from fairtrial.redaction.secrets import Redactor

_PER_RUN = frozenset(
    {"client_metadata", "metadata", "prompt_cache_key", "safety_identifier", "user"}
)
"""Fields of a body that name the run or the user and never change an answer."""
_PER_ITEM = frozenset({"id", "internal_chat_message_metadata_passthrough"})
"""Fields of an item of a Responses input that say which answer it came from, and when."""
_ID_FIELDS = frozenset({"tool_use_id", "call_id", "tool_call_id"})
_ITEMS_WITH_IDS = frozenset({"tool_use", "server_tool_use"})

_FOLDER = r"((?:/|[A-Za-z]:\\\\)[^\"\\<>\n]+)"
_CURRENT_FOLDERS = (
    re.compile(r"orking directory: " + _FOLDER),
    re.compile(r"<cwd>" + _FOLDER),
)
_NAME = r"[^/\s\"'`\\<>:,;()\[\]]+"
_TEMPORARY = re.compile(
    rf"/(?:private/)?(?:var/)?tmp/{_NAME}|/(?:private/)?var/folders/{_NAME}/{_NAME}/T/{_NAME}"
)
# They look at JSON text, in which a line ends with the two characters \n. Each begins with letters
# that stand for themselves, which is what makes the search through a long request fast.
_VARYING: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"oday((?:.?s)? date(?: is|:) ?)\d{4}-\d\d-\d\d"), r"oday\1<date>"),
    (re.compile(r"urrent date((?: is|:) ?)\d{4}-\d\d-\d\d"), r"urrent date\1<date>"),
    (re.compile(r"<current_date>[^<]*</current_date>"), "<current_date/>"),
    (re.compile(r"in (?<=\bin )\d+(?:\.\d+)? ?(?:s|ms|seconds)\b"), "in <time>"),
    (re.compile(r"Chunk ID: \w+"), "Chunk ID: <id>"),
    (re.compile(r"Wall time: \d+(?:\.\d+)?"), "Wall time: <time>"),
    (re.compile(r"cch=\w+"), "cch=<id>"),
    (re.compile(r"memory at `[^`\"]+/projects/<cwd>"), "memory at `<config>/projects/<cwd>"),
    (re.compile(r"### Skill roots\\n(?:- `r\d+` = `[^`\"]+`\\n)+"), r"### Skill roots\\n"),
)
_RECENT = re.compile(r"Recent commits:((?:\\n[0-9a-f]{7,40} (?:[^\"\\]|\\[^n])*)+)")
_WITHIN_A_MESSAGE = re.compile(r"\.content\b.*")
_COMMIT = re.compile(r"\\n[0-9a-f]{7,40} ")


def canonical_hash(api: str, body: bytes, redactor: Redactor) -> str | None:
    """Return the hash of a request's canonical form; None when its body is no JSON object.

    Secrets are taken out first: a recorded request has none, and keys change between runs.
    """
    try:
        content = msgspec.json.decode(redactor.body(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return canonical_of_content(api, content) if isinstance(content, dict) else None


def canonical_of_content(api: str, content: dict[str, Any]) -> str:
    """Return the hash of the canonical form of a decoded request, whose secrets were taken out."""
    text = f"{api}\n{canonical_content(content)}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_content(content: dict[str, Any]) -> str:
    """Return the canonical form of a decoded request, whose secrets were taken out."""
    kept = {key: value for key, value in content.items() if key not in _PER_RUN}
    items = kept.get("input")
    if isinstance(items, list):
        kept["input"] = [
            {key: part for key, part in item.items() if key not in _PER_ITEM}
            if isinstance(item, dict)
            else item
            for item in items
        ]
    pruned = _pruned(kept, {})
    text = msgspec.json.encode(pruned, order="sorted").decode("utf-8", "surrogatepass")
    for folder, name in _folders(text):
        text = text.replace(folder, name)
    text = _TEMPORARY.sub("<temporary>", text)
    for pattern, replacement in _VARYING:
        text = pattern.sub(replacement, text)
    return _RECENT.sub(_without_commits, text)


def difference(a: Json, b: Json) -> str | None:
    """Say at which field two requests differ first, in their own order; None when they do not.

    Args:
        a: A request's body, decoded.
        b: The other's.
    """
    if not isinstance(a, dict) or not isinstance(b, dict):
        return None if a == b else "the body differs"
    left, right = json.loads(canonical_content(a)), json.loads(canonical_content(b))
    keys = [key for key in [*a, *(key for key in b if key not in a)] if key not in _PER_RUN]
    for key in keys:
        where = _first_difference(left.get(key), right.get(key), key)
        if where is not None:
            return f"{_WITHIN_A_MESSAGE.sub('.content', where)} differs"
    return None


def _pruned(value: Any, ids: dict[str, str]) -> Any:
    """Return a value without cache marks, with the ids of tool calls in the order they appear."""
    if isinstance(value, list):
        return [_pruned(item, ids) for item in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for key, part in value.items():
        if key == "cache_control":
            continue
        if isinstance(part, str) and _ties_a_tool(key, value):
            kept[key] = ids.setdefault(part, f"id{len(ids)}")
        elif key == "content" and isinstance(part, str):
            # Claude Code sends a text as one block when it marks it for the cache.
            kept[key] = [{"text": part, "type": "text"}]
        else:
            kept[key] = _pruned(part, ids)
    return kept


def _ties_a_tool(key: str, item: dict[str, Any]) -> bool:
    """Return whether a field ties what was asked of a tool to its result."""
    asks = item.get("type") in _ITEMS_WITH_IDS or "function" in item
    return key in _ID_FIELDS or (key == "id" and asks)


def _folders(text: str) -> list[tuple[str, str]]:
    """Return the folders that a request says it works in, and what stands for them."""
    found: dict[str, str] = {}
    for pattern in _CURRENT_FOLDERS:
        for match in pattern.finditer(text):
            folder = match[1].rstrip("/ ")
            if folder.count("/") > 1:
                found[folder] = "<cwd>"
                # Claude Code names a project's own folder after its path.
                found[re.sub(r"[^A-Za-z0-9]", "-", folder)] = "<cwd>"
    return sorted(found.items(), key=lambda pair: len(pair[0]), reverse=True)


def _without_commits(match: re.Match[str]) -> str:
    return "Recent commits:" + _COMMIT.sub(r"\\n<commit> ", match[1])


def _first_difference(a: Any, b: Any, path: str) -> str | None:
    if isinstance(a, dict) and isinstance(b, dict):
        parts = [(a.get(key), b.get(key), f"{path}.{key}") for key in dict.fromkeys([*a, *b])]
    elif isinstance(a, list) and isinstance(b, list):
        pairs = itertools.zip_longest(a, b)
        parts = [(left, right, f"{path}[{at}]") for at, (left, right) in enumerate(pairs)]
    else:
        return None if a == b and type(a) is type(b) else path
    wheres = (_first_difference(left, right, where) for left, right, where in parts)
    return next((where for where in wheres if where is not None), None)
