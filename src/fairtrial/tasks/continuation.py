"""A recorded step of an agent, put to a model again: the output is its next turn.

The input of a case is a request in an API's own words: `{"api": …, "body": …, "headers": …}`; with
`harness` it also says where the request tells of the agent's instructions. No tool that the model
asks for is run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fairtrial.harness.telling import told
from fairtrial.model.call import Api, ProviderSpec, WireCall
from fairtrial.model.case import Case
from fairtrial.model.errors import TaskError, UsageError
from fairtrial.model.harness import Harness
from fairtrial.model.json import Json, canonical_json
from fairtrial.model.next_turn import HarnessPlace
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import Provider, Surroundings
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.schema.text_files import text_given, text_kept
from fairtrial.tasks.agent_harness import harness_files, settled_harness
from fairtrial.tasks.prompt_answer import answered, result_of
from fairtrial.wire.varying import NoSuchFieldError, varied

PROVIDER_OF: Final[Mapping[Api, str]] = {
    Api.ANTHROPIC_MESSAGES: "anthropic",
    Api.OPENAI_RESPONSES: "openai",
    Api.OPENAI_CHAT: "openai",
}
_ADDRESSES: Final[Mapping[str, str]] = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "openai": "OPENAI_BASE_URL",
}
"""The variable of a trial's own environment that names where an API's calls go."""


@dataclass(frozen=True)
class Options:
    """The options of a continuation task."""

    vary: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the request to set, e.g. `{"model": "m", "system": "@prompt.md"}`: `model`,
    `system`, `tools` or any field of the body, with dots between names; null takes a field out
    (default: the request as it was recorded)."""
    provider: Any = None
    """Who sends it: the name of a provider, or an object with `kind` and its options (default: the
    one whose API the request was recorded from)."""
    providers: Mapping[str, Any] = field(default_factory=dict)
    """Who sends the requests of each API, where they are of several: `{"anthropic-messages":
    "claude-code", "openai-responses": "codex"}`."""
    harness: str | Mapping[str, str] | None = None
    """The instructions, rules and skills that the agent is told of, in place of the recorded ones:
    a folder like the root of a repository, a file, or texts and `@FILE`s by path (default: as it
    was recorded)."""


@dataclass(slots=True)
class ContinuationTask:
    """Sends each case's request, with its changes.

    Attributes:
        vary: What is changed.
        providers: Who sends the requests of each API.
        harness: What the agent is told of; None leaves the recorded one.
    """

    vary: Mapping[str, Json]
    providers: Mapping[Api, Provider]
    harness: Harness | None = None

    async def open(self) -> None:
        """Open the providers."""
        for provider in dict.fromkeys(self.providers.values()):
            await provider.open()

    async def run(self, call: TaskCall) -> TaskResult:
        """Put one recorded step to its model.

        Raises:
            TaskError: the case is no recorded step, or the provider refused the request.
            TrialTimeout: the model took too long.
            InfraError: the world failed.
        """
        request = self._request(call)
        sent = self.providers[request.api].send(request)
        reply = await answered(sent, call.time_limit_s)
        most = request.body.get("max_tokens") or request.body.get("max_output_tokens") or 0
        return result_of(reply, "message", None, most)

    async def close(self) -> None:
        """Close the providers."""
        for provider in set(self.providers.values()):
            await provider.close()

    def _request(self, call: TaskCall) -> WireCall:
        recorded = recorded_request(call.case)
        if self.harness is not None:
            recorded = _told(recorded, call.case, self.harness)
        try:
            request = varied(recorded, self.vary)
        except NoSuchFieldError as error:
            raise TaskError(f"the request cannot be varied: {error}") from None
        address = call.environ.get(_ADDRESSES[PROVIDER_OF[request.api]])
        return WireCall(
            request.api, request.body, request.headers, draw=call.trial, base_url=address
        )


def recorded_request(case: Case) -> WireCall:
    """Return the request that a case holds.

    Raises:
        TaskError: it holds none.
    """
    given = case.input
    known = isinstance(given, Mapping) and given.get("api") in [api.value for api in Api]
    body = given.get("body") if isinstance(given, Mapping) else None
    if not known or not isinstance(body, Mapping):
        raise TaskError(
            "the case holds no recorded request: its input must be an object with 'api' and 'body'"
        )
    headers = given.get("headers") or {}
    return WireCall(Api(given["api"]), body, headers)


def _told(call: WireCall, case: Case, harness: Harness) -> WireCall:
    """Return a request that tells of a harness.

    Raises:
        TaskError: the case does not say where its request does.
    """
    given = case.input.get("harness") if isinstance(case.input, Mapping) else None
    if not isinstance(given, Mapping):
        raise TaskError(
            "the case does not say where its request tells of the harness: its input needs"
            " 'harness', as cases of `fairtrial exp ab` have it"
        )
    try:
        return told(call, HarnessPlace.read(given), harness)
    except ValueError as error:
        raise TaskError(f"the harness cannot be exchanged: {error}") from None


def settle(
    options: Options, base_dir: Path, _environ: Mapping[str, str], where: str
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the options that a plan fixes: the texts of files are read.

    Raises:
        UsageError: a file cannot be read, or the provider is unknown.
    """
    vary = {
        name: text_kept(value) if isinstance(value, str) else value
        for name, value in changes_given(options.vary, base_dir, where).items()
    }
    provider = options.provider
    fixed = None if provider is None else provider_spec(provider, where).content()
    settled: dict[str, Json] = {"vary": vary, "provider": fixed}
    if options.providers:
        specs = {_api(name, where): one for name, one in options.providers.items()}
        settled["providers"] = {
            api.value: provider_spec(one, where).content() for api, one in specs.items()
        }
    if options.harness is not None:
        settled["harness"] = settled_harness(options.harness, base_dir, where)
    return settled, ()


def _api(name: str, where: str) -> Api:
    try:
        return Api(name)
    except ValueError:
        known = ", ".join(PROVIDER_OF)
        raise UsageError(
            f"{name!r} is no API: {known}", where=f"{where}, option 'providers'"
        ) from None


def build(options: Options, surroundings: Surroundings, where: str) -> ContinuationTask:
    """Return the task; its providers are built at once and need their keys only when they send.

    Raises:
        UsageError: an option makes no sense, or a file cannot be read.
    """
    if options.provider is not None and options.providers:
        raise UsageError("either provider or providers", where=where)
    specs = {api: ProviderSpec(kind) for api, kind in PROVIDER_OF.items()}
    if options.provider is not None:
        specs = dict.fromkeys(PROVIDER_OF, provider_spec(options.provider, where))
    for name, given in options.providers.items():
        specs[_api(name, where)] = provider_spec(given, where)
    built: dict[bytes, Provider] = {}
    providers = {}
    for api, spec in specs.items():
        key = canonical_json(spec.content())
        if key not in built:
            built[key] = build_provider(spec, surroundings, where)
        providers[api] = built[key]
    vary = changes_given(options.vary, surroundings.base_dir, where)
    harness = None
    if options.harness is not None:
        settled = settled_harness(options.harness, surroundings.base_dir, where) or {}
        files = {path: data.decode() for path, data in harness_files(settled).items()}
        harness = Harness(files, "the task's harness")
    return ContinuationTask(vary, providers, harness)


def changes_given(vary: Mapping[str, Json], folder: Path, where: str) -> dict[str, Json]:
    """Return what is to be changed, with the texts of files in place of their names.

    Raises:
        UsageError: a file cannot be read, or a field has no name.
    """
    at = f"{where}, option 'vary'"
    if not all(all(name.split(".")) for name in vary):
        raise UsageError("a field to vary has no name", where=at)
    return {
        name: text_given(value, folder, f"{at}, {name}") if isinstance(value, str) else value
        for name, value in vary.items()
    }
