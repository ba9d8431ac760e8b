"""The words of a prompt task: system, template or messages, filled for a case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from fairtrial.model.call import Message
from fairtrial.model.case import Case
from fairtrial.model.errors import UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import EarlierAttempt
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.text_files import read_text, text_given
from fairtrial.tasks.prompt_template import Template, TemplateProblemError

INPUT = "{{ input }}"
"""The template of a task that gives none: the input as it is, or as JSON."""
_NONE = "(no answer)"
_KEYS = ("role", "content")
_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class Words:
    """What a spec says, with every file read.

    Attributes:
        system: The template of the system prompt, if any.
        template: The template of the only message; None when there are several.
        messages: Role and template of each message; empty when there is one template.
    """

    system: str | None
    template: str | None
    messages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a task, ready to be filled.

    Attributes:
        system: Its system prompt.
        turns: Role and template of each message.
    """

    system: Template | None
    turns: tuple[tuple[Literal["user", "assistant"], Template], ...]

    def filled(self, case: Case) -> tuple[str | None, tuple[Message, ...]]:
        """Return the system prompt and the messages for a case.

        Raises:
            TemplateProblemError: a template cannot be filled.
        """
        values = values_of(case)
        system = None if self.system is None else self.system.fill(values)
        messages = tuple(Message(role, template.fill(values)) for role, template in self.turns)
        if not messages[-1].text.strip():
            raise TemplateProblemError(f"{self.turns[-1][1].name} leaves the prompt empty")
        return system or None, messages


def values_of(case: Case) -> dict[str, Any]:
    """Return what templates may name: the case without what is expected of it."""
    own = {
        "input": case.input,
        "metadata": dict(case.metadata),
        "tags": list(case.tags),
        "case_id": case.id,
        "condition": case.condition,
    }
    keys = case.input if isinstance(case.input, Mapping) else {}
    return {**{str(key): value for key, value in keys.items()}, **own}


def attempted(earlier: Sequence[EarlierAttempt]) -> tuple[Message, ...]:
    """Return earlier attempts as turns of the conversation: what came, and what was said of it."""
    turns: list[Message] = []
    for attempt in earlier:
        output = attempt.output
        said = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        # An API refuses a turn without words.
        turns.append(Message("assistant", said if output is not None and said.strip() else _NONE))
        turns.append(Message("user", attempt.feedback))
    return tuple(turns)


@dataclass(frozen=True, slots=True)
class Given:
    """The options that hold words, as the user wrote them."""

    system: str | None
    template: str | None
    template_file: str | None
    messages: tuple[Mapping[str, Any], ...]


def words_of(given: Given, folder: Path, where: str) -> Words:
    """Return the words of a spec, with the files that they name.

    Raises:
        UsageError: two options exclude each other, a message has no role or content, or a file
            cannot be read.
    """
    named = {
        "template": given.template is not None,
        "template_file": given.template_file is not None,
        "messages": bool(given.messages),
    }
    several = [name for name, there in named.items() if there]
    if len(several) > 1:
        raise UsageError(
            f"'{several[0]}' and '{several[1]}' exclude each other", where=where, fix="give one"
        )
    system = given.system
    if system is not None:
        system = text_given(system, folder, f"{where}, option 'system'")
    if given.messages:
        return _messages(given.messages, system, folder, where)
    if given.template_file is not None:
        template = read_text(given.template_file, folder, f"{where}, option 'template_file'")
    else:
        usual = INPUT if given.template is None else given.template
        template = text_given(usual, folder, f"{where}, option 'template'")
    return Words(system, template)


def _messages(
    given: tuple[Mapping[str, Any], ...], system: str | None, folder: Path, where: str
) -> Words:
    turns = []
    for number, message in enumerate(given):
        at = f"{where}, messages[{number}]"
        unknown = [unknown_name(str(key), _KEYS) for key in message if key not in _KEYS]
        if unknown:
            raise UsageError(unknown[0], where=at)
        role, content = message.get("role"), message.get("content")
        if role not in _ROLES or not isinstance(content, str):
            raise UsageError(
                f"its 'role' must be one of {', '.join(_ROLES)}, its 'content' a text", where=at
            )
        turns.append((role, text_given(content, folder, at)))
    if turns[0][0] == "system":
        if system is not None:
            raise UsageError("'system' is given twice", where=where, fix="leave one out")
        system, turns = turns[0][1], turns[1:]
    if any(role == "system" for role, _ in turns):
        raise UsageError("only the first message may be the system's", where=where)
    if not turns or turns[-1][0] != "user":
        raise UsageError("the last message must be the user's", where=where)
    return Words(system, None, tuple(turns))


def compiled(words: Words, where: str) -> Prompt:
    """Return a prompt that can be filled.

    Raises:
        UsageError: a template's syntax is wrong, or it names what a task may not see.
    """
    turns = words.messages or (("user", words.template or ""),)
    names = [f"messages[{n}]" for n in range(len(turns))] if words.messages else ["template"]
    system = None if words.system is None else _compiled(words.system, "system", where)
    return Prompt(
        system,
        tuple(
            (cast("Literal['user', 'assistant']", role), _compiled(text, name, where))
            for (role, text), name in zip(turns, names, strict=True)
        ),
    )


def _compiled(source: str, name: str, where: str) -> Template:
    try:
        template = Template(source, name)
    except TemplateProblemError as error:
        raise UsageError(str(error), where=where, fix="see: Jinja's template syntax") from None
    if "expected" in template.names:
        raise UsageError(
            f"{name} names 'expected'",
            where=where,
            why="a task never sees what is expected",
            fix="a key of the input with that name is {{ input.expected }}",
        )
    return template


def as_options(words: Words, kept: Any) -> dict[str, Json]:
    """Return words as the options that give them again.

    Args:
        words: The words.
        kept: Turns a text into an option that gives it.
    """
    return {
        "system": None if words.system is None else kept(words.system),
        "template": None if words.template is None else kept(words.template),
        "template_file": None,
        "messages": [{"role": role, "content": kept(content)} for role, content in words.messages]
        or None,
    }
