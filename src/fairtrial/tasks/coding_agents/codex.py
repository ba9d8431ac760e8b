"""Codex: `codex exec`, with the workspace's own instructions."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Final

from fairtrial.model.errors import InfraError
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings
from fairtrial.providers.cli_codex_events import api_message, told_tokens
from fairtrial.providers.cli_environment import cli_environment, find_program
from fairtrial.providers.cli_printed import printed_events
from fairtrial.providers.cli_provider import Access
from fairtrial.providers.cli_trouble import trouble
from fairtrial.providers.codex import destination
from fairtrial.providers.login import CODEX
from fairtrial.tasks.coding_agents.job import AgentOptions, Ending, Job, LoginCopy, seen_by

CONFIG: Final = ".codex"
_URL: Final = "OPENAI_BASE_URL"
_SETTINGS: Final[dict[str, str | int | bool]] = {
    "check_for_update_on_startup": False,
    "analytics.enabled": False,
    "cli_auth_credentials_store": "file",
    # It would wait for a network for ever, and fetch what is not the workspace's.
    "features.unbounded_connection_retries": False,
    "features.plugins": False,
    "features.apps": False,
    "web_search": "disabled",
}


class Codex:
    """Runs Codex."""

    name = "codex"
    config: str | None = CONFIG
    transcripts: str | None = f"{CONFIG}/sessions"

    def __init__(self, options: AgentOptions, surroundings: Surroundings, where: str) -> None:
        """Look the program up.

        Raises:
            UsageError: there is no `codex`.
        """
        fix = "install it: npm install -g @openai/codex"
        self.program = find_program(options.program, "codex", surroundings, where, fix)
        self._options = options
        self._environ = surroundings.environ
        self._prices = surroundings.prices
        self.visible = seen_by(self.program)

    def login(self) -> LoginCopy | None:
        """See `CodingAgent.login`."""
        file = CODEX.found(self._environ, Path.is_file)
        if file is not None:
            return LoginCopy(file, PurePosixPath(CONFIG, CODEX.file))
        if CODEX.key(self._environ) is None:
            raise InfraError(f"codex is not logged in: {CODEX.how}", kind="login")
        return None

    def process(self, job: Job) -> ProcessCall:
        """See `CodingAgent.process`."""
        options = self._options
        file = CODEX.found(self._environ, Path.is_file)
        key = None if file else CODEX.key(self._environ)
        base_url = job.environ.get(_URL)
        argv = [self.program, "exec", "--json", "-C", str(job.path), "--skip-git-repo-check"]
        argv += ["--dangerously-bypass-approvals-and-sandbox"]
        argv += ["-m", options.model] if options.model else []
        settings = dict(_SETTINGS)
        if options.effort:
            settings["model_reasoning_effort"] = options.effort
        for name, value in (*settings.items(), *destination(Access(file, key, base_url))):
            argv += ["-c", f"{name}={json.dumps(value, ensure_ascii=False)}"]
        env = {
            **cli_environment(self._environ, key, base_url),
            **job.environ,
            "HOME": str(job.home),
            "CODEX_HOME": str(job.home / CONFIG),
        }
        prompt = job.instruction.encode("utf-8", "replace")
        return ProcessCall((*argv, "-"), prompt, env, Path(job.path), job.time_limit_s)

    def ending(self, ended: ProcessResult) -> Ending:
        """See `CodingAgent.ending`."""
        answer, failure, usage = None, None, None
        for event in printed_events(ended.stdout):
            kind, item = event.get("type"), event.get("item")
            if kind == "item.completed" and isinstance(item, dict):
                if item.get("type") == "agent_message":
                    answer = str(item.get("text") or "")
            elif kind == "turn.completed":
                usage = event.get("usage")
            elif kind == "turn.failed":
                error = event.get("error")
                failure = str(error.get("message")) if isinstance(error, dict) else str(error)
        if usage is None and not ended.timed_out:
            words = api_message(failure) if failure else ended.usage.stderr_tail.strip()
            problem = trouble(self.name, words or f"exit status {ended.usage.exit_status}")
            if isinstance(problem, InfraError):
                raise problem
            return Ending(answer, error=str(problem))
        tokens = told_tokens(usage) if isinstance(usage, dict) else None
        model, cost = self._options.model, None
        if self._prices is not None and model is not None and tokens is not None:
            cost = self._prices.cost_usd(model, tokens)
        return Ending(answer, cost_usd=cost, tokens=tokens, model=model)
