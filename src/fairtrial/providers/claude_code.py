"""Claude Code on the user's login: `claude -p`, without tools, settings, hooks or memory.

A recorded request it goes on with for one turn: it has its tools then, and may run none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fairtrial.model.call import Api, Message, ModelCall, ModelReply, WireCall
from fairtrial.model.errors import ProviderError
from fairtrial.ports import ProcessCall, ProcessResult, Provider, Surroundings
from fairtrial.providers.choice import CLAUDE_MODEL
from fairtrial.providers.cli_claude_result import read_result
from fairtrial.providers.cli_claude_turn import (
    SHELL,
    Surface,
    claude_turn_session,
    effort_of,
    read_turn,
    system_of,
)
from fairtrial.providers.cli_environment import find_program
from fairtrial.providers.cli_folders import Place
from fairtrial.providers.cli_provider import Access, CliOptions, CliProvider
from fairtrial.providers.cli_refusing import refusing_hooks
from fairtrial.providers.cli_sessions import SESSION, claude_session
from fairtrial.providers.login import CLAUDE

RETRIES: Final = 1
_SCHEMA_TURNS: Final = 4
"""The answer is a call of a tool of its own: a turn, and one more for each that misses the
schema."""
_LONGEST_ARGUMENT: Final = 100_000
_ISOLATED: Final = (
    *("--setting-sources", "", "--strict-mcp-config"),
    *("--disable-slash-commands", "--no-session-persistence"),
)
_QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    # `@/etc/passwd` in a prompt would put that file into the request, tools or no tools.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    # An answer of another model, or to another question, would pass for the one asked for.
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
}


@dataclass(frozen=True)
class Options(CliOptions):
    """Options of the `claude-code` provider."""


def build(options: Options, surroundings: Surroundings, where: str) -> Provider:
    """Return the provider.

    Raises:
        UsageError: there is no `claude`.
    """
    fix = "install it: npm install -g @anthropic-ai/claude-code"
    program = find_program(options.program, "claude", surroundings, where, fix)
    return ClaudeCodeProvider(options, surroundings, program)


class ClaudeCodeProvider(CliProvider):
    """Answers by `claude -p`."""

    kind = "claude-code"
    api = Api.ANTHROPIC_MESSAGES
    login = CLAUDE
    base_url_variable = "ANTHROPIC_BASE_URL"

    @property
    def default_model(self) -> str:
        """See `CliProvider.default_model`."""
        return self._options.model or CLAUDE_MODEL

    def process(self, call: ModelCall, place: Place, access: Access) -> ProcessCall:
        """See `CliProvider.process`."""
        # The file, not an argument: it may be long, and arguments are for all to see.
        system = place.config / "system-prompt.txt"
        system.write_text(call.system or "", encoding="utf-8")
        model = call.model or self.default_model
        argv = [self._program, "-p", "--output-format", "json", "--model", model, *_ISOLATED]
        argv += ["--tools", ""]
        argv += ["--system-prompt-file", str(system)]
        argv += ["--effort", self._options.effort] if self._options.effort else []
        argv += ["--max-turns", str(1 if call.response_schema is None else _SCHEMA_TURNS)]
        argv += _schema_arguments(call)
        argv += _history_arguments(call.messages[:-1], place, model)
        prompt = _prompt(call.messages[-1].text)
        return ProcessCall(tuple(argv), prompt, _environment(place, access), place.work)

    def reply(self, ended: ProcessResult, call: ModelCall) -> ModelReply:
        """See `CliProvider.reply`."""
        model = call.model or self.default_model
        return read_result(ended, model, self._surroundings.prices)

    def continuing(self, call: WireCall, place: Place, access: Access) -> ProcessCall:
        """See `CliProvider.continuing`."""
        model = self._model_of(call)
        session = claude_turn_session(call.body, model, self._surface(place))
        argv = [self._program, "-p", "--verbose", "--model", model, *_ISOLATED]
        argv += ["--input-format", "stream-json", "--output-format", "stream-json"]
        argv += ["--resume", _write_session(session, place), "--max-turns", "1"]
        # Its note on how to sign commits would stand last among what the model reads.
        settings = {"hooks": refusing_hooks(), "includeCoAuthoredBy": False}
        argv += ["--settings", json.dumps(settings)]
        system = system_of(call.body)
        if system is not None:
            file = place.config / "system-prompt.txt"
            file.write_text(system, encoding="utf-8", errors="replace")
            argv += ["--system-prompt-file", str(file)]
        effort = effort_of(call.body) or self._options.effort
        argv += ["--effort", effort] if effort else []
        env = _environment(place, access) | {
            "CLAUDE_CODE_RESUME_INTERRUPTED_TURN": "1",
            "SHELL": SHELL,
        }
        return ProcessCall(tuple(argv), b"", env, place.work)

    def next_turn(self, ended: ProcessResult, call: WireCall) -> ModelReply:
        """See `CliProvider.next_turn`."""
        return read_turn(ended, self._model_of(call), self._surroundings.prices)

    def _model_of(self, call: WireCall) -> str:
        return str(call.body.get("model") or self.default_model)

    def _surface(self, place: Place) -> Surface:
        clock = self._surroundings.clock
        today = None if clock is None else f"{clock.now().astimezone():%Y-%m-%d}"
        return Surface(place.work.resolve(), today)


def _environment(place: Place, access: Access) -> dict[str, str]:
    env = {
        **_QUIET,
        "HOME": str(place.home),
        "TMPDIR": str(place.tmp),
        "CLAUDE_CONFIG_DIR": str(place.config),
    }
    if access.base_url:
        env["ANTHROPIC_BASE_URL"] = access.base_url.rstrip("/").removesuffix("/v1")
    return env


def _schema_arguments(call: ModelCall) -> Sequence[str]:
    if call.response_schema is None:
        return ()
    schema = json.dumps(call.response_schema)
    if len(schema) > _LONGEST_ARGUMENT:
        raise ProviderError(f"claude-code takes no schema over {_LONGEST_ARGUMENT:,} characters")
    return ("--json-schema", schema)


def _history_arguments(turns: Sequence[Message], place: Place, model: str) -> Sequence[str]:
    """Write earlier turns as a session that it goes on with: they reach the model as turns."""
    if not turns:
        return ()
    return ("--resume", _write_session(claude_session(turns, place.work.resolve(), model), place))


def _write_session(session: str, place: Place) -> str:
    """Put a session where it is looked for, and return its id."""
    work = str(place.work.resolve())
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in work)
    folder = place.config / "projects" / slug
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_text(session, encoding="utf-8")
    return SESSION


def _prompt(text: str) -> bytes:
    # A text that starts with a slash would be taken for a command of its own.
    return ("\n" * text.startswith("/") + text).encode("utf-8", "replace")
