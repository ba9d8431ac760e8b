"""Codex on the user's login: `codex exec`, without shell, agents, plugins, rules or memory.

A recorded request it goes on with for one turn: it has its shell then, and may run nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fairtrial.model.call import Api, ModelCall, ModelReply, WireCall
from fairtrial.ports import ProcessCall, ProcessResult, Provider, Surroundings
from fairtrial.providers.choice import GPT_MODEL
from fairtrial.providers.cli_codex_events import read_events
from fairtrial.providers.cli_codex_turn import WRAPPER, effort_of, read_turn, thread_of
from fairtrial.providers.cli_environment import find_program
from fairtrial.providers.cli_folders import Place
from fairtrial.providers.cli_provider import Access, CliOptions, CliProvider
from fairtrial.providers.cli_refusing import refusing_hooks
from fairtrial.providers.cli_sessions import CODEX_FILE, SESSION, codex_session
from fairtrial.providers.login import CODEX

API_URL: Final = "https://api.openai.com/v1"
NO_SYSTEM: Final = "Answer the user."
"""Codex takes no empty instructions, and its own make it a coding agent."""
RETRIES: Final = 1
_HANDS: Final = ("shell_tool", "unified_exec", "code_mode_host", "hooks")
"""What the model could do with the machine, and what would come from the user's hooks. A recorded
request has them on: the tools are what its model may ask for, and a hook refuses them."""
_OFF: Final = (
    # What no hook is asked about, or spends on others of its kind.
    *("view_image", "multi_agent", "multi_agent_v2"),
    *("image_generation", "sleep_tool", "computer_use", "browser_use", "in_app_browser"),
    # What would come from the user's set-up, or from the network.
    *("plugins", "apps", "goals", "skill_search", "tool_suggest", "shell_snapshot"),
    # It would wait for a network for ever.
    "unbounded_connection_retries",
)
_PATIENCE_S: Final = 20
"""How long a tool waits for its refusal, unless Codex has ended before."""
_SETTINGS: Final[Mapping[str, str | int | bool]] = {
    "project_doc_max_bytes": 0,
    "web_search": "disabled",
    "check_for_update_on_startup": False,
    "analytics.enabled": False,
    "agents.enabled": False,
    "skills.bundled.enabled": False,
    "skills.include_instructions": False,
    "include_permissions_instructions": False,
    "include_environment_context": False,
    "include_apps_instructions": False,
    "include_collaboration_mode_instructions": False,
    "cli_auth_credentials_store": "file",
}
_PROVIDER: Final = "fairtrial"
_INSTRUCTIONS: Final = "instructions.md"


@dataclass(frozen=True)
class Options(CliOptions):
    """Options of the `codex` provider."""


def build(options: Options, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider.

    Raises:
        UsageError: there is no `codex`.
    """
    fix = "install it: npm install -g @openai/codex"
    program = find_program(options.program, "codex", surroundings, where, fix)
    return CodexProvider(options, surroundings, program)


class CodexProvider(CliProvider):
    """Answers by `codex exec`."""

    kind = "codex"
    api = Api.OPENAI_RESPONSES
    login = CODEX
    base_url_variable = "OPENAI_BASE_URL"

    @property
    def default_model(self) -> str:
        """See `CliProvider.default_model`."""
        return self._options.model or GPT_MODEL

    def process(self, call: ModelCall, place: Place, access: Access) -> ProcessCall:
        """See `CliProvider.process`."""
        system = call.system if call.system and call.system.strip() else NO_SYSTEM
        argv = self._arguments(call.model or self.default_model, system, place)
        argv += ["--ephemeral"]
        effort = self._options.effort
        argv += _settings(dict.fromkeys(_HANDS, False), effort, place, access)
        if call.response_schema is not None:
            schema = place.config / "schema.json"
            schema.write_text(json.dumps(call.response_schema), encoding="utf-8")
            argv += ["--output-schema", str(schema)]
        if len(call.messages) > 1:
            _write_rollout(codex_session(call.messages[:-1], place.work, system), place)
            argv += ["resume", SESSION]
        prompt = call.messages[-1].text.encode("utf-8", "replace")
        return ProcessCall((*argv, "-"), prompt, _environment(place), place.work)

    def continuing(self, call: WireCall, place: Place, access: Access) -> ProcessCall:
        """See `CliProvider.continuing`."""
        thread = thread_of(call.body)
        system = thread.instructions or NO_SYSTEM
        rollout = _write_rollout(thread.rollout(place.work, system), place)
        hooks = {"hooks": refusing_hooks(_PATIENCE_S)}
        (place.config / "hooks.json").write_text(json.dumps(hooks), encoding="utf-8")
        argv = [sys.executable, "-I", "-S", str(WRAPPER), str(rollout)]
        argv += self._arguments(self._model_of(call), system, place)
        argv += ["--dangerously-bypass-hook-trust"]
        effort = effort_of(call.body) or self._options.effort
        argv += _settings(dict.fromkeys(_HANDS, True), effort, place, access)
        prompt = thread.prompt.encode("utf-8", "replace")
        return ProcessCall((*argv, "resume", SESSION, "-"), prompt, _environment(place), place.work)

    def next_turn(self, ended: ProcessResult, call: WireCall) -> ModelReply:
        """See `CliProvider.next_turn`."""
        return read_turn(ended, self._model_of(call), self._surroundings.prices)

    def _model_of(self, call: WireCall) -> str:
        return str(call.body.get("model") or self.default_model)

    def _arguments(self, model: str, system: str, place: Place) -> list[str]:
        (place.config / _INSTRUCTIONS).write_text(system, encoding="utf-8", errors="replace")
        argv = [self._program, "exec", "--json", "-C", str(place.work), "-s", "read-only"]
        return [*argv, "-m", model, "--skip-git-repo-check", "--ignore-rules"]

    def reply(self, ended: ProcessResult, call: ModelCall) -> ModelReply:
        """See `CliProvider.reply`."""
        model = call.model or self.default_model
        return read_events(ended, model, self._surroundings.prices)


def _settings(
    hands: Mapping[str, bool], effort: str | None, place: Place, access: Access
) -> list[str]:
    # As settings, not as --disable: a release that lacks a feature does not fail on one.
    features = {**dict.fromkeys(_OFF, False), **hands}
    settings = {f"features.{name}": on for name, on in features.items()} | dict(_SETTINGS)
    settings["model_instructions_file"] = str(place.config / _INSTRUCTIONS)
    if effort:
        settings["model_reasoning_effort"] = effort
    return [
        argument
        for name, value in (*settings.items(), *destination(access))
        for argument in ("-c", f"{name}={json.dumps(value, ensure_ascii=False)}")
    ]


def _write_rollout(text: str, place: Place) -> Path:
    """Put a thread where it is looked for, and return its file."""
    rollout = place.config / CODEX_FILE
    rollout.parent.mkdir(parents=True)
    rollout.write_text(text, encoding="utf-8")
    return rollout


def _environment(place: Place) -> dict[str, str]:
    return {"HOME": str(place.home), "TMPDIR": str(place.tmp), "CODEX_HOME": str(place.config)}


def destination(access: Access) -> Iterator[tuple[str, str | int | bool]]:
    """Yield the settings of a model provider of its own; Codex heeds no OPENAI_BASE_URL.

    With a login and no address the one built in is meant.
    """
    if access.key is None and access.base_url is None:
        return
    table = f"model_providers.{_PROVIDER}"
    yield "model_provider", _PROVIDER
    yield f"{table}.name", _PROVIDER
    yield f"{table}.base_url", _with_path(access.base_url or API_URL)
    yield f"{table}.wire_api", "responses"
    yield f"{table}.request_max_retries", RETRIES
    yield f"{table}.stream_max_retries", RETRIES
    if access.key is None:
        yield f"{table}.requires_openai_auth", True
    else:
        yield f"{table}.env_key", access.key


def _with_path(url: str) -> str:
    """Return an address with the path that the API has where none is given."""
    url = url.rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"
