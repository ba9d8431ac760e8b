"""Codex on the user's login: `codex exec`, without shell, agents, plugins, rules or memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from fairtrial.model.call import ModelCall, ModelReply
from fairtrial.ports import ProcessCall, ProcessResult, Provider, Surroundings
from fairtrial.providers.choice import GPT_MODEL
from fairtrial.providers.cli_codex_events import read_events
from fairtrial.providers.cli_environment import find_program
from fairtrial.providers.cli_folders import Place
from fairtrial.providers.cli_provider import Access, CliOptions, CliProvider
from fairtrial.providers.cli_sessions import CODEX_FILE, SESSION, codex_session
from fairtrial.providers.login import CODEX

API_URL: Final = "https://api.openai.com/v1"
NO_SYSTEM: Final = "Answer the user."
"""Codex takes no empty instructions, and its own make it a coding agent."""
RETRIES: Final = 1
_OFF: Final = (
    # What the model could do with the machine, or spend on others of its kind.
    *(
        "shell_tool",
        "unified_exec",
        "code_mode_host",
        "view_image",
        "multi_agent",
        "multi_agent_v2",
    ),
    *("image_generation", "sleep_tool", "computer_use", "browser_use", "in_app_browser"),
    # What would come from the user's set-up, or from the network.
    *("plugins", "apps", "goals", "hooks", "skill_search", "tool_suggest", "shell_snapshot"),
    # It would wait for a network for ever.
    "unbounded_connection_retries",
)
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
    login = CODEX
    base_url_variable = "OPENAI_BASE_URL"

    @property
    def default_model(self) -> str:
        """See `CliProvider.default_model`."""
        return self._options.model or GPT_MODEL

    def process(self, call: ModelCall, place: Place, access: Access) -> ProcessCall:
        """See `CliProvider.process`."""
        system = call.system if call.system and call.system.strip() else NO_SYSTEM
        instructions = place.config / "instructions.md"
        instructions.write_text(system, encoding="utf-8")
        argv = [self._program, "exec", "--json", "-C", str(place.work), "-s", "read-only"]
        argv += ["-m", call.model or self.default_model]
        argv += ["--ephemeral", "--skip-git-repo-check", "--ignore-rules"]
        # As settings, not as --disable: a release that lacks a feature does not fail on one.
        settings = {f"features.{feature}": False for feature in _OFF} | dict(_SETTINGS)
        settings["model_instructions_file"] = str(instructions)
        if self._options.effort:
            settings["model_reasoning_effort"] = self._options.effort
        for name, value in (*settings.items(), *destination(access)):
            argv += ["-c", f"{name}={json.dumps(value, ensure_ascii=False)}"]
        if call.response_schema is not None:
            schema = place.config / "schema.json"
            schema.write_text(json.dumps(call.response_schema), encoding="utf-8")
            argv += ["--output-schema", str(schema)]
        if len(call.messages) > 1:
            rollout = place.config / CODEX_FILE
            rollout.parent.mkdir(parents=True)
            text = codex_session(call.messages[:-1], place.work, system)
            rollout.write_text(text, encoding="utf-8")
            argv += ["resume", SESSION]
        env = {
            "HOME": str(place.home),
            "TMPDIR": str(place.tmp),
            "CODEX_HOME": str(place.config),
        }
        prompt = call.messages[-1].text.encode("utf-8", "replace")
        return ProcessCall((*argv, "-"), prompt, env, place.work)

    def reply(self, ended: ProcessResult, call: ModelCall) -> ModelReply:
        """See `CliProvider.reply`."""
        model = call.model or self.default_model
        return read_events(ended, model, self._surroundings.prices)


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
