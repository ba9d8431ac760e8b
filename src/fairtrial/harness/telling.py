"""A request in which the agent is told of another harness, and of nothing else anew."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fairtrial.harness.block import block, exchanged
from fairtrial.harness.loading.agents import loaded
from fairtrial.model.call import Api, WireCall
from fairtrial.model.harness import Harness, LoadedText
from fairtrial.model.next_turn import HarnessPlace

_LEAF: Final = "text"


class NoSuchPlaceError(ValueError):
    """A request has no text where its harness is said to stand."""


def texts_told(harness: Harness, place: HarnessPlace) -> tuple[LoadedText, ...]:
    """Return what the agent of a request would be told of a harness, in its order."""
    return loaded(place.agent, harness, place.cwd)


def told(call: WireCall, place: HarnessPlace, harness: Harness) -> WireCall:
    """Return a request with a harness in the place of the one that it tells of.

    Where it tells of none, the new one is put before the first turn, as the agent would. What is
    of the user's own, outside of the repository, stays.

    Args:
        call: The request.
        place: Where it tells of a harness.
        harness: The one to tell of.

    Raises:
        NoSuchPlaceError: there is no text at the place.
    """
    texts = texts_told(harness, place)
    body = copy.deepcopy(dict(call.body))
    if not place.at:
        _put_first(call.api, body, block(place.agent, texts, place.root, place.cwd))
    # From the end: what becomes empty is taken out, which moves what comes after it.
    for path in sorted(place.at, key=_order, reverse=True):
        _exchange(body, path, texts, place)
    return replace(call, body=body)


def _order(path: Sequence[str | int]) -> list[str]:
    return [f"{name:012d}" if isinstance(name, int) else name for name in path]


def _exchange(
    body: dict[str, Any],
    path: Sequence[Any],
    texts: Sequence[LoadedText],
    place: HarnessPlace,
) -> None:
    holders: list[Any] = [body]
    try:
        for name in path[:-1]:
            holders.append(holders[-1][name])
        now = holders[-1][path[-1]]
    except (KeyError, IndexError, TypeError):
        now = None
    if not isinstance(now, str):
        raise NoSuchPlaceError(f"there is no text at {'.'.join(map(str, path))}")
    text = exchanged(now, place.agent, texts, place.root, place.cwd)
    holders[-1][path[-1]] = text
    if text or path[-1] != _LEAF:
        return
    # An empty text is none that an API takes: its part goes, and its turn if nothing is left of it.
    parts, turns = holders[-2], holders[-4] if len(holders) >= 4 else None
    del parts[path[-2]]
    if not parts and isinstance(turns, list):
        del turns[path[-4]]


def _put_first(api: Api, body: dict[str, Any], text: str) -> None:
    if not text:
        return
    if api is Api.OPENAI_RESPONSES:
        part = {"type": "input_text", "text": text}
        item = {"type": "message", "role": "user", "content": [part]}
        given = body.get("input")
        body["input"] = [item, *given] if isinstance(given, list) else [item]
        return
    turns = body.get("messages")
    turns = list(turns) if isinstance(turns, list) else []
    part = {"type": "text", "text": text}
    first = turns[0] if turns else None
    if isinstance(first, Mapping) and first.get("role") == "user":
        content = first.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        body["messages"] = [{**first, "content": [part, *(blocks or [])]}, *turns[1:]]
    else:
        body["messages"] = [{"role": "user", "content": [part]}, *turns]
