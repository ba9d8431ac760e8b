"""A recorded request with fields changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fairtrial.model.call import Api, WireCall
from fairtrial.model.json import Json

_SYSTEM_ROLES: Final = ("system", "developer")


class NoSuchFieldError(ValueError):
    """A path leads to no place that could be set."""


def varied(call: WireCall, changes: Mapping[str, Json]) -> WireCall:
    """Return a request with fields of its body set.

    `system` means the instructions, wherever the API has them; any other name is a field of the
    body, with dots between names and positions in lists: `thinking.budget_tokens`,
    `messages.0.content`. None takes the field out.

    Raises:
        NoSuchFieldError: a path leads into a text or a number, or beyond the end of a list.
    """
    body = copy.deepcopy(dict(call.body))
    for path, value in changes.items():
        if path == "system":
            _set_system(call.api, body, value)
        else:
            _set(body, path, value)
    return replace(call, body=body)


def system_of(call: WireCall) -> str | None:
    """Return the instructions of a request as one text; None when it has none."""
    match call.api:
        case Api.ANTHROPIC_MESSAGES:
            return _words(call.body.get("system"))
        case Api.OPENAI_RESPONSES:
            return _words(call.body.get("instructions"))
        case Api.OPENAI_CHAT:
            told = [turn for turn in _turns(call.body) if turn.get("role") in _SYSTEM_ROLES]
            return _words(told[0].get("content")) if told else None


def _set_system(api: Api, body: dict[str, Json], value: Json) -> None:
    match api:
        case Api.ANTHROPIC_MESSAGES:
            _put(body, "system", value)
        case Api.OPENAI_RESPONSES:
            _put(body, "instructions", value)
        case Api.OPENAI_CHAT:
            turns = [turn for turn in _turns(body) if turn.get("role") not in _SYSTEM_ROLES]
            told = [] if value is None else [{"role": "system", "content": value}]
            body["messages"] = [*told, *turns]


def _turns(body: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    turns = body.get("messages")
    found = turns if isinstance(turns, list) else []
    return [turn for turn in found if isinstance(turn, Mapping)]


def _words(content: Json) -> str | None:
    if content is None or isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str)) or None


def _set(body: dict[str, Json], path: str, value: Json) -> None:
    names = path.split(".")
    inner: Json = body
    for depth, name in enumerate(names[:-1], start=1):
        inner = _step(inner, name, ".".join(names[:depth]))
    if isinstance(inner, dict):
        _put(inner, names[-1], value)
    elif isinstance(inner, list):
        inner[_place(inner, names[-1], path)] = value
    else:
        raise NoSuchFieldError(f"{path!r} leads into a value that has no fields")


def _step(inner: Json, name: str, path: str) -> Json:
    if isinstance(inner, dict):
        return inner.setdefault(name, {})
    if isinstance(inner, list):
        return inner[_place(inner, name, path)]
    raise NoSuchFieldError(f"{path!r} leads into a value that has no fields")


def _place(inner: list[Json], name: str, path: str) -> int:
    place = int(name) if name.isascii() and name.isdigit() and len(name) < 10 else len(inner)
    if place >= len(inner):
        raise NoSuchFieldError(f"{path!r} names no place in a list of {len(inner):,}")
    return place


def _put(holder: dict[str, Json], name: str, value: Json) -> None:
    if value is None:
        holder.pop(name, None)
    else:
        holder[name] = value
