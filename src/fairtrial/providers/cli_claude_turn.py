"""A request of the Messages API as a session that Claude Code goes on with for one turn.

What Claude Code reads back from a session reaches its model word by word: turns as they are, and
texts between them by the attachments whose rendered form a session keeps.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from uuid import UUID

from fairtrial.model.call import ModelReply
from fairtrial.model.errors import ProviderError
from fairtrial.model.json import Json
from fairtrial.ports import Prices, ProcessResult
from fairtrial.providers.cli_claude_result import (
    KIND,
    is_out_of_turns,
    printed_result,
    read_result,
    told_cost,
    told_tokens,
)
from fairtrial.providers.cli_printed import printed_events
from fairtrial.providers.cli_sessions import SESSION, WHEN, lines
from fairtrial.wire.anthropic_messages import read_body

_ADDED_BY_ITSELF: Final = (
    "x-anthropic-billing-header:",
    "You are a Claude agent, built on",
    "You are Claude Code, Anthropic's official CLI",
)
_AGENTS: Final = ("claude", "Explore", "general-purpose", "Plan", "statusline-setup")
_NO_MODEL: Final = "<synthetic>"
# An attachment with an empty text would be rendered anew.
_SILENT: Final = " "
SHELL: Final = "/bin/bash"
"""The shell that it is told to have; none is run."""
_MODEL_TOLD: Final = re.compile(
    r"You are powered by the model named (.+?)\. The exact model ID is (\S+?)\."
    r" Assistant knowledge cutoff is (.+?)\."
)
_REMINDER: Final = "<system-reminder>"
_ENDS_WITH: Final = (
    "claude-code needs a user's turn or the result of a tool at the end of the request's messages"
)


@dataclass(frozen=True, slots=True)
class Surface:
    """What Claude Code would tell the model of where it runs, if the session did not know it.

    Attributes:
        work: Its working directory.
        today: The date, as `2026-01-31`; None when it is not known.
    """

    work: Path
    today: str | None

    def attachments(self) -> Iterator[dict[str, Json]]:
        """Yield the announcements that are left out, since the session is told to have had them."""
        system = os.uname()
        yield {
            "type": "environment",
            "snapshot": {
                "workingDirectory": str(self.work),
                "isWorktree": False,
                "isGitRepo": False,
                "additionalWorkingDirectories": [],
                "platform": sys.platform,
                "shell": Path(SHELL).name,
                "osVersion": f"{system.sysname} {system.release}",
            },
        }
        yield {
            "type": "agent_listing_delta",
            "addedTypes": list(_AGENTS),
            "addedLines": [f"- {name}" for name in _AGENTS],
            "removedTypes": [],
            "isInitial": True,
        }
        if self.today is not None:
            yield {"type": "date", "date": self.today}


def _model_told(turns: Sequence[Mapping[str, Json]]) -> Iterator[dict[str, Json]]:
    """Yield the announcement of the model, where the conversation has it."""
    for turn in turns:
        for text in texts_of(turn.get("content")) if turn["role"] == "system" else ():
            found = _MODEL_TOLD.search(text)
            if found is not None:
                name, model, cutoff = found.groups()
                identity = {"marketingName": name, "modelId": model, "knowledgeCutoff": cutoff}
                yield {"type": "model", "identity": identity, "text": found[0]}
                return


def claude_turn_session(body: Mapping[str, Json], model: str, surface: Surface) -> str:
    """Return the session that a request's messages make.

    Args:
        body: The request's body.
        model: The model that answered so far.
        surface: Where it will run.

    Raises:
        ProviderError: the body has no messages, or they do not end where a model's turn begins.
    """
    turns = _turns(body)
    last = next((turn for turn in reversed(turns) if turn["role"] != "system"), None)
    if last is None or last["role"] != "user":
        raise ProviderError(_ENDS_WITH)
    session = _Session(surface.work)
    known = (*surface.attachments(), *_model_told(turns))
    records = [session.attachment(silent, _SILENT) for silent in known]
    for number, turn in enumerate(turns):
        if turn["role"] == "system":
            records += [
                session.attachment({"type": "recorded"}, _as_reminder(text))
                for text in texts_of(turn.get("content"))
            ]
        elif turn["role"] == "user":
            content = _without_marks(turn.get("content"))
            content = _no_command(content) if turn is last else content
            message = {"role": "user", "content": content}
            records.append(session.record("user", message=message))
        else:
            message = _assistant(number, turn, model)
            records.append(session.record("assistant", message=message))
    return lines(records)


def system_of(body: Mapping[str, Json]) -> str | None:
    """Return a request's instructions without what Claude Code puts before them by itself.

    None when nothing is left: Claude Code's own are then the nearest.
    """
    texts = [
        text
        for text in texts_of(body.get("system"))
        if not text.lstrip().startswith(_ADDED_BY_ITSELF)
    ]
    return "\n\n".join(texts) or None


def effort_of(body: Mapping[str, Json]) -> str | None:
    """Return how hard a request has the model think; None when it does not say."""
    config = body.get("output_config")
    effort = config.get("effort") if isinstance(config, Mapping) else None
    return effort if isinstance(effort, str) and effort.isalnum() else None


def read_turn(ended: ProcessResult, model: str, prices: Prices | None) -> ModelReply:
    """Return the turn that the model took.

    Args:
        ended: The process.
        model: The model that was asked.
        prices: What models cost, where the CLI does not say.

    Raises:
        InfraError: the world failed.
        ProviderError: the call was refused, or a tool was run.
    """
    result, (said, ran) = printed_result(ended), _events(ended)
    if ran:
        raise ProviderError(f"{KIND} ran a tool, which it was told not to: {ran}")
    stop = None if result is None else result.get("stop_reason")
    turn = read_body({"content": said, "model": model, "stop_reason": stop})
    if result is None or not (turn.tool_uses and is_out_of_turns(result)):
        reply = read_result(ended, model, prices)
        return replace(reply, text=turn.text or reply.text)
    tokens = told_tokens(result)
    return replace(turn, tokens=tokens, cost_usd=told_cost(result, tokens, prices))


def _events(ended: ProcessResult) -> tuple[list[Json], str | None]:
    """Return the blocks that the model wrote first, and the tool that was run, if one was."""
    said: list[Json] = []
    first: Json = None
    names: dict[Json, str] = {}
    for event in printed_events(ended.stdout):
        message = event.get("message")
        if not isinstance(message, Mapping) or event.get("parent_tool_use_id") is not None:
            continue
        blocks = _blocks(message.get("content"))
        if message.get("model") == _NO_MODEL:  # words of Claude Code about trouble
            continue
        if event.get("type") == "assistant" and first in (None, message.get("id")):
            first = message.get("id")
            said += blocks
            names |= {
                block.get("id"): str(block.get("name"))
                for block in blocks
                if block.get("type") == "tool_use"
            }
        for block in blocks if event.get("type") == "user" else ():
            # A call that was refused, or that no tool takes, has a result that tells an error.
            if block.get("type") == "tool_result" and not block.get("is_error"):
                return said, names.get(block.get("tool_use_id"), "one it was not asked for")
    return said, None


class _Session:
    """The records of a session, each of which names the one before."""

    def __init__(self, work: Path) -> None:
        self._work = work
        self._count = 0

    def record(self, kind: str, **more: Json) -> Json:
        """Return the next record."""
        parent = str(UUID(int=self._count)) if self._count else None
        self._count += 1
        return {
            "type": kind,
            "uuid": str(UUID(int=self._count)),
            "parentUuid": parent,
            "isSidechain": False,
            "sessionId": SESSION,
            "timestamp": WHEN,
            "cwd": str(self._work),
            "userType": "external",
            **more,
        }

    def attachment(self, attachment: Json, text: str) -> Json:
        """Return a record of a text that is none of the user's and none of the model's."""
        rendered: Json = [{"content": text}]
        return self.record(
            "attachment", attachment=attachment, rendered=rendered, renderedRole="system"
        )


def _turns(body: Mapping[str, Json]) -> Sequence[Mapping[str, Json]]:
    messages = body.get("messages")
    turns = messages if isinstance(messages, list) else []
    roles = ("user", "assistant", "system")
    if not turns or not all(
        isinstance(turn, Mapping) and turn.get("role") in roles for turn in turns
    ):
        raise ProviderError(
            "claude-code takes a request with 'messages' of users, assistants and the system"
        )
    return turns


def _assistant(number: int, turn: Mapping[str, Json], model: str) -> Json:
    content = turn.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _without_marks(blocks),
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _no_command(content: Json) -> Json:
    """Return what is said last so that it is not taken for a command of Claude Code's own."""
    if isinstance(content, list):
        return [
            {**block, "text": _no_command(block["text"])}
            if isinstance(block, Mapping) and block.get("type") == "text"
            else block
            for block in content
        ]
    commands = isinstance(content, str) and content.lstrip().startswith("/")
    return f"\n{content}" if commands else content


def _as_reminder(text: str) -> str:
    """Return a text of the system in the form that sessions keep it in."""
    if text.lstrip().startswith(_REMINDER):
        return text
    return f"{_REMINDER}\n{text}\n</system-reminder>"


def texts_of(content: Json) -> list[str]:
    """Return the texts of a message's content that are not blank."""
    blocks = [{"text": content}] if isinstance(content, str) else _blocks(content)
    texts = [block.get("text") for block in blocks]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _blocks(content: Json) -> list[Mapping[str, Json]]:
    return (
        [block for block in content if isinstance(block, Mapping)]
        if isinstance(content, list)
        else []
    )


def _without_marks(content: Json) -> Json:
    """Return content without the marks of what to cache, which Claude Code sets by itself."""
    if isinstance(content, list):
        return [_without_marks(block) for block in content]
    if isinstance(content, Mapping):
        return {
            name: _without_marks(part) if name == "content" else part
            for name, part in content.items()
            if name != "cache_control"
        }
    return content
