"""A request in which the agent is told of another harness, and of nothing else anew."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fairtrial.harness.block import CLAUDE_CODE, block, exchanged
from fairtrial.harness.blocks.claude_code import exchanged_later, later_path
from fairtrial.harness.blocks.skills import claude_exchanged, codex_exchanged, lists_skills
from fairtrial.harness.loading.agents import loaded
from fairtrial.harness.loading.claude_code import told_later
from fairtrial.harness.loading.listing import claude_listed, codex_listed
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
    of the user's own, outside of the repository, stays. Files that Claude Code told of later, when
    it touched what they are about, are exchanged there; one that would have been new then is not
    put in. So are the lines that list skills and commands; of Claude Code's, which do not say whose
    they are, none is taken out.

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
    later = dict(_told_later(body, place))
    for path in sorted({*place.at, *later}, key=_order, reverse=True):
        now = _text_at(body, path)
        if path in place.at:
            text = exchanged(now, place.agent, texts, place.root, place.cwd)
        else:
            text = exchanged_later(now, told_later(harness, later[path], place.cwd))
        _put(body, path, text)
    _list_skills(body, place, harness)
    return replace(call, body=body)


def _list_skills(body: dict[str, Any], place: HarnessPlace, harness: Harness) -> None:
    """Exchange the lines that list skills, wherever a request has some."""
    first = True
    for path, text in list(_texts(body)):
        if not lists_skills(text):
            continue
        if place.agent == CLAUDE_CODE:
            lines = claude_listed(harness, place.cwd)
            _put(body, path, claude_exchanged(text, lines, first=first))
        else:
            skills = codex_listed(harness, place.cwd)
            _put(body, path, codex_exchanged(text, skills, place.root))
        first = False


def _texts(body: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the texts of turns that the agent itself may have written, and where they are."""
    for name in ("messages", "input"):
        turns = body.get(name)
        for number, turn in enumerate(turns if isinstance(turns, list) else ()):
            if not isinstance(turn, Mapping) or turn.get("role") == "assistant":
                continue
            content = turn.get("content")
            if isinstance(content, str):
                yield (name, number, "content"), content
            for at, part in enumerate(content if isinstance(content, list) else ()):
                text = part.get(_LEAF) if isinstance(part, Mapping) else None
                if isinstance(text, str):
                    yield (name, number, "content", at, _LEAF), text


def _told_later(
    body: Mapping[str, Any], place: HarnessPlace
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield where a request tells of a file in the middle of a session, and of which."""
    for at, text in _texts(body) if place.agent == CLAUDE_CODE else ():
        path = later_path(text, place.root)
        if path is not None:
            yield at, path


def _order(path: Sequence[str | int]) -> list[str]:
    return [f"{name:012d}" if isinstance(name, int) else name for name in path]


def _text_at(body: Mapping[str, Any], path: Sequence[Any]) -> str:
    now: Any = body
    try:
        for name in path:
            now = now[name]
    except (KeyError, IndexError, TypeError):
        now = None
    if not isinstance(now, str):
        raise NoSuchPlaceError(f"there is no text at {'.'.join(map(str, path))}")
    return now


def _put(body: dict[str, Any], path: Sequence[Any], text: str) -> None:
    """Put a text into a request in the place of the one that is there."""
    holders: list[Any] = [body]
    for name in path[:-1]:
        holders.append(holders[-1][name])
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
