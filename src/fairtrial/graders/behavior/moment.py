"""A decision point as graders see it: what was said and done before, and the turn that followed.

Instructions are no part of it, whoever gave them: they are what two arms differ in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from fairtrial.conduct.calls import action_key, command_of
from fairtrial.model.call import Api, Message, ToolResult, ToolUse
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Subject
from fairtrial.model.json import Json
from fairtrial.wire.asked import as_call

_REMINDER: Final = re.compile(r"<system-reminder>.*?(?:</system-reminder>|\Z)", re.DOTALL)
_INSTRUCTIONS: Final = (
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<environment_context>",
    "<permissions",
    "<INSTRUCTIONS>",
)
_INSTRUCTING: Final = ("system", "developer")
_ABOVE: Final = ("system", "instructions")
_FAILED: Final = re.compile(
    r"Process exited with code (?!0\b)-?\d+|Exit code:? (?!0\b)-?\d+|\"exit_code\": ?(?!0\b)-?\d+"
    r"|^Script (?:failed|error)|apply_patch verification failed|^failed in sandbox"
)
_LOOKED_AT: Final = 600
_LONGEST: Final = 2_000
_LONGEST_TALK: Final = 16_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said and asked for.

    Attributes:
        text: Its words.
        uses: The tools that it asks for.
    """

    text: str
    uses: tuple[ToolUse, ...]

    def shown(self) -> str:
        """Return the turn as a judge reads it."""
        said = [self.text.strip()] if self.text.strip() else []
        return "\n\n".join([*said, *map(_call, self.uses)]) or "(the turn is empty)"


@dataclass(frozen=True, slots=True)
class Moment:
    """A decision point.

    Attributes:
        before: The conversation, without instructions.
        turn: The next turn.
    """

    before: tuple[Message, ...]
    turn: Turn

    def failed(self) -> tuple[ToolUse, ...]:
        """Return the calls among the last ones that failed.

        Where nothing tells which failed, there is only one that can be meant, or none.
        """
        ending = list(takewhile(lambda message: message.role == "user", reversed(self.before)))
        results = [result for message in ending for result in message.tool_results]
        calls = {use.id: use for message in self.before for use in message.tool_uses}
        known = [(calls[one.tool_use_id], one) for one in results if one.tool_use_id in calls]
        if len(known) == 1:
            return (known[0][0],)
        return tuple(use for use, result in known if _has_failed(result))

    def shown(self) -> str:
        """Return the conversation's end as a judge reads it; what was asked first is kept."""
        entries = list(_entries(self.before))
        first, rest = entries[:1], entries[1:]
        kept: list[str] = []
        length = sum(map(len, first))
        for entry in reversed(rest):
            length += len(entry)
            if length > _LONGEST_TALK:
                kept.append("[…]")
                break
            kept.append(entry)
        return "\n\n".join([*first, *reversed(kept)])


def key_of(use: ToolUse) -> bytes:
    """Return what is equal for two calls that are the same."""
    return action_key(use.name, command_of(use.input), use.input)


def moment_of(subject: Subject) -> Moment:
    """Return the decision point that a case holds, and the turn that was the output.

    Raises:
        GraderError: the case holds no request, or the output is no turn.
    """
    given = subject.case.input
    known = [api.value for api in Api]
    body = given.get("body") if isinstance(given, Mapping) else None
    if (
        not isinstance(given, Mapping)
        or not isinstance(body, Mapping)
        or given.get("api") not in known
    ):
        raise GraderError(f"case {subject.case.id} is no decision point: it holds no request")
    bare = _without_instructions(body, _places(given.get("harness")))
    return Moment(as_call(Api(given["api"]), bare).messages, _turn(subject.output))


def _turn(output: Json) -> Turn:
    uses = output.get("tool_uses") if isinstance(output, Mapping) else None
    if not isinstance(output, Mapping) or not isinstance(uses, Sequence) or isinstance(uses, str):
        raise GraderError("the output is no turn: it must be an object with 'text' and 'tool_uses'")
    if not all(isinstance(use, Mapping) and isinstance(use.get("name"), str) for use in uses):
        raise GraderError("the output has a tool use without a name")
    if output.get("stop") == "refusal" and not uses:
        raise GraderError("the model refused to answer, so that there is no turn to judge")
    text = output.get("text")
    asked = tuple(ToolUse(str(use.get("id", "")), use["name"], use.get("input")) for use in uses)
    return Turn(text if isinstance(text, str) else "", asked)


def _places(harness: Json) -> list[list[Json]]:
    at = harness.get("at") if isinstance(harness, Mapping) else None
    return [path for path in at if isinstance(path, list)] if isinstance(at, list) else []


def _without_instructions(
    body: Mapping[str, Json], places: Sequence[Sequence[Json]]
) -> dict[str, Json]:
    """Return a request's body without what instructs the model, wherever it stands."""
    bare: dict[str, Json] = json.loads(
        json.dumps({k: v for k, v in body.items() if k not in _ABOVE})
    )
    for path in places:
        _empty(bare, path)
    for name in ("messages", "input"):
        turns = bare.get(name)
        if isinstance(turns, list):
            bare[name] = [
                _spoken(turn)
                for turn in turns
                if isinstance(turn, dict) and turn.get("role") not in _INSTRUCTING
            ]
    return bare


def _empty(body: Json, path: Sequence[Json]) -> None:
    holder = body
    try:
        for name in path[:-1]:
            holder = holder[name]
        if isinstance(holder[path[-1]], str):
            holder[path[-1]] = ""
    except (KeyError, IndexError, TypeError):
        return


def _spoken(value: Json) -> Json:
    """Return a turn without reminders and instructions among its words."""
    if isinstance(value, dict):
        return {name: _spoken(part) if name in _WORDS else part for name, part in value.items()}
    if isinstance(value, list):
        return [_spoken(part) for part in value]
    if not isinstance(value, str):
        return value
    return "" if value.lstrip().startswith(_INSTRUCTIONS) else _REMINDER.sub("", value)


_WORDS: Final = ("content", "text", "output")


def _has_failed(result: ToolResult) -> bool:
    return result.is_error or _FAILED.search(result.text[:_LOOKED_AT]) is not None


def _entries(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for result in message.tool_results:
            yield f"[result] {_cut(result.text)}"
        if message.text.strip():
            yield f"[{message.role}] {_cut(message.text.strip())}"
        yield from map(_call, message.tool_uses)


def _call(use: ToolUse) -> str:
    given = use.input
    written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"[call] {use.name}: {_cut(written)}"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} […] {text[-half:]}"
