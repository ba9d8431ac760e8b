"""A prompt: each case is put to a model, whose answer is the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from fairtrial.model.call import ModelCall, Tool
from fairtrial.model.case import Case
from fairtrial.model.errors import TaskError, UsageError
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.providers.settling import settled_provider
from fairtrial.schema.decoding import unknown_name
from fairtrial.schema.text_files import json_given, text_kept
from fairtrial.schema.validating import NoSchemaError, validator_of
from fairtrial.tasks.prompt_answer import Form, answered, result_of
from fairtrial.tasks.prompt_template import TemplateProblemError
from fairtrial.tasks.prompt_text import (
    Given,
    Prompt,
    Words,
    as_options,
    attempted,
    compiled,
    words_of,
)

_ATTEMPTS = 1_000_000
"""More trials than any experiment has: attempts of one trial are draws beyond all trials."""
_ADDRESSES: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "claude-code": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
    "codex": "OPENAI_BASE_URL",
}
"""The variable of a trial's own environment that names where a provider's calls go."""
_TOOL_KEYS = ("name", "description", "input_schema")


@dataclass(frozen=True)
class Options:
    """The options of a prompt task."""

    template: str | None = None
    """The message to the model, a Jinja template over `input`, its keys, `metadata`, `tags`,
    `case_id` and `condition` (default: the input itself). `@FILE` takes it from a file."""
    template_file: str | None = None
    """The file that holds the template; the same as `template` with `@FILE`."""
    system: str | None = None
    """The system prompt, a template too. `@FILE` takes it from a file."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """Several messages instead of one template: `{"role": "user", "content": TEMPLATE}` each; the
    last is the user's."""
    provider: Any = None
    """Who runs the model: the name of a provider, or an object with `kind` and its options. Unless
    given, the first that can be used here; the run's spec then says which."""
    model: str | None = None
    """The model; the provider's own choice unless given."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """How freely the model draws; the provider's own choice unless given."""
    max_tokens: Annotated[int, Meta(ge=1)] = 4096
    """The most tokens of an answer; one that reaches it is cut, and graded as it is."""
    tools: tuple[Mapping[str, Any], ...] | str = ()
    """Tools it may ask for: `{"name": …, "description": …, "input_schema": …}` each, or `@FILE`.
    None of them is run."""
    response_schema: Mapping[str, Any] | str | None = None
    """JSON Schema that the answer must satisfy, or `@FILE`; the output is then its JSON."""
    output: Literal["text", "json", "message"] | None = None
    """What the output is: the answer's `text`, its `json`, or the `message`, an object of text,
    tool uses and stop reason (default: json with a schema, message with tools, else text)."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request's body, as the API names them, e.g. `{"top_p": 0.9}`."""
    seed: bool = False
    """Also send each trial's own seed, as `seed`; for APIs that take one (OpenAI chat and most
    compatible servers)."""


@dataclass(frozen=True, slots=True)
class PromptTask:
    """Puts each case to a model.

    Attributes:
        options: As the user wrote them.
        prompt: Its words.
        provider: Who runs the model.
        kind: The provider's kind.
        tools: What the model may ask for.
        schema: What the answer must satisfy, and what checks it; None takes any answer.
    """

    options: Options
    prompt: Prompt
    provider: Provider
    kind: str
    tools: tuple[Tool, ...] = ()
    schema: tuple[Mapping[str, Json], Any] | None = None

    async def open(self) -> None:
        """Open the provider."""
        await self.provider.open()

    async def run(self, call: TaskCall) -> TaskResult:
        """Put one case to the model.

        Raises:
            TaskError: the template cannot be filled, or the provider refused the call.
            TrialTimeout: the model took too long.
            InfraError: the world failed.
        """
        try:
            question = self.question(call)
        except TemplateProblemError as error:
            raise TaskError(str(error)) from None
        reply = await answered(self.provider.complete(question), call.time_limit_s)
        validator = None if self.schema is None else self.schema[1]
        return result_of(reply, self.form, validator, self.options.max_tokens)

    async def close(self) -> None:
        """Close the provider."""
        await self.provider.close()

    @property
    def form(self) -> Form:
        """What the output is."""
        if self.options.output is not None:
            return self.options.output
        if self.schema is not None:
            return "json"
        return "message" if self.tools else "text"

    def question(self, call: TaskCall) -> ModelCall:
        """Return what the model is asked for one case.

        Raises:
            TemplateProblemError: a template cannot be filled.
        """
        options = self.options
        system, messages = self.prompt.filled(call.case)
        messages = (*messages, *attempted(call.earlier))
        seed = {"seed": call.seed} if options.seed else {}
        variable = _ADDRESSES.get(self.kind)
        return ModelCall(
            messages=messages,
            model=options.model,
            system=system,
            max_tokens=options.max_tokens,
            temperature=options.temperature,
            response_schema=None if self.schema is None else self.schema[0],
            tools=self.tools,
            params={**seed, **options.params},
            draw=call.trial + (call.attempt - 1) * _ATTEMPTS,
            base_url=None if variable is None else call.environ.get(variable),
        )


def settle(
    options: Options, base_dir: Path, environ: Mapping[str, str], where: str
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the options that a plan fixes, and what to tell about them.

    Every file is read, and the provider and the model are chosen: all that could change an answer
    is then in the spec.

    Raises:
        UsageError: a file cannot be read, a template is wrong, or no provider can be used.
    """
    words = _words(options, base_dir, where)
    compiled(words, where)
    tools, schema = _tools(options, base_dir, where), _schema(options, base_dir, where)
    provider, model, note = settled_provider(options.provider, options.model, environ, where)
    fixed = {
        **as_options(words, text_kept),
        "provider": provider,
        "model": model,
        "tools": [dict(tool) for tool in tools] or None,
        "response_schema": None if schema is None else dict(schema),
    }
    return fixed, (note,) if note else ()


def rehearse(options: Options, case: Case, base_dir: Path, where: str) -> None:
    """Fill the templates for a case.

    Raises:
        UsageError: they cannot be filled.
    """
    try:
        compiled(_words(options, base_dir, where), where).filled(case)
    except TemplateProblemError as error:
        raise UsageError(
            str(error),
            where=where,
            why=f"that is so for the first case to run, {case.id!r}",
            fix="templates see input, its keys, metadata, tags, case_id and condition; what only "
            "some cases have is written {{ x | default('…') }}",
        ) from None


def build(options: Options, surroundings: Surroundings, where: str) -> PromptTask:
    """Return the task; all of its options are checked at once.

    Raises:
        UsageError: one of them makes no sense, or a file cannot be read.
    """
    folder = surroundings.base_dir
    prompt = compiled(_words(options, folder, where), where)
    tools = tuple(
        Tool(tool["name"], tool.get("description", ""), tool.get("input_schema", _ANY))
        for tool in _tools(options, folder, where)
    )
    schema = _schema(options, folder, where)
    checked: tuple[Mapping[str, Json], Any] | None = None
    if schema is not None:
        try:
            checked = (schema, validator_of(schema))
        except NoSchemaError as error:
            what = f"'response_schema' is no JSON Schema: {error}"
            raise UsageError(what, where=where) from error
    provider = provider_spec(options.provider, where)
    built = build_provider(provider, surroundings, where)
    return PromptTask(options, prompt, built, provider.kind, tools, checked)


_ANY: Mapping[str, Json] = {"type": "object"}


def _words(options: Options, folder: Path, where: str) -> Words:
    given = Given(options.system, options.template, options.template_file, options.messages)
    return words_of(given, folder, where)


def _tools(options: Options, folder: Path, where: str) -> list[Mapping[str, Any]]:
    at = f"{where}, option 'tools'"
    tools = json_given(options.tools, folder, at)
    if not isinstance(tools, list | tuple):
        raise UsageError("the tools must be a list", where=at)
    names: set[str] = set()
    for number, tool in enumerate(tools):
        problem = _tool_problem(tool, names)
        if problem is not None:
            raise UsageError(f"tool {number + 1}: {problem}", where=at)
        names.add(tool["name"])
    return list(tools)


def _tool_problem(tool: Any, names: set[str]) -> str | None:
    if not isinstance(tool, Mapping):
        return "it must be an object"
    unknown = [unknown_name(str(key), _TOOL_KEYS) for key in tool if key not in _TOOL_KEYS]
    if unknown:
        return unknown[0]
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        return "its 'name' must be a text"
    if not isinstance(tool.get("description", ""), str):
        return "its 'description' must be a text"
    if not isinstance(tool.get("input_schema", {}), Mapping):
        return "its 'input_schema' must be an object"
    return f"a second one is called {name!r}" if name in names else None


def _schema(options: Options, folder: Path, where: str) -> Mapping[str, Json] | None:
    at = f"{where}, option 'response_schema'"
    schema = json_given(options.response_schema, folder, at)
    if schema is not None and not isinstance(schema, Mapping):
        raise UsageError("a schema is an object", where=at)
    return schema
