"""Claude Code: `claude -p`, with the workspace's own instructions, rules and skills."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from fairtrial.model.errors import InfraError
from fairtrial.ports import ProcessCall, ProcessResult, Surroundings
from fairtrial.providers.cli_claude_result import printed_result, told_cost, told_tokens
from fairtrial.providers.cli_environment import cli_environment, find_program
from fairtrial.providers.cli_trouble import trouble
from fairtrial.providers.login import CLAUDE
from fairtrial.tasks.coding_agents.job import AgentOptions, Ending, Job, LoginCopy, seen_by

CONFIG: Final = ".claude"
_QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    # Another model would pass for the one under test.
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_MODEL_ACCESS_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}
_URL: Final = "ANTHROPIC_BASE_URL"
_LIMITS: Final = {"max_turns": "all its turns", "budget_exhausted": "all its budget"}


class ClaudeCode:
    """Runs Claude Code."""

    name = "claude-code"
    config: str | None = CONFIG
    transcripts: str | None = f"{CONFIG}/projects"

    def __init__(self, options: AgentOptions, surroundings: Surroundings, where: str) -> None:
        """Look the program up.

        Raises:
            UsageError: there is no `claude`.
        """
        fix = "install it: npm install -g @anthropic-ai/claude-code"
        self.program = find_program(options.program, "claude", surroundings, where, fix)
        self._options = options
        self._environ = surroundings.environ
        self._prices = surroundings.prices
        self.visible = seen_by(self.program)

    def login(self) -> LoginCopy | None:
        """See `CodingAgent.login`."""
        file = CLAUDE.found(self._environ, Path.is_file)
        if file is not None:
            return LoginCopy(file, PurePosixPath(CONFIG, CLAUDE.file))
        if CLAUDE.key(self._environ) is None:
            raise InfraError(f"claude-code is not logged in: {CLAUDE.how}", kind="login")
        return None

    def process(self, job: Job) -> ProcessCall:
        """See `CodingAgent.process`."""
        options = self._options
        argv = [self.program, "-p", "--output-format", "json"]
        # The project's instructions are what is tried; nothing of the user's gets in.
        argv += ["--setting-sources", "project", "--strict-mcp-config"]
        argv += ["--permission-mode", "bypassPermissions"]
        argv += ["--model", options.model] if options.model else []
        argv += ["--effort", options.effort] if options.effort else []
        argv += ["--max-turns", str(options.max_turns)] if options.max_turns else []
        login = CLAUDE.found(self._environ, Path.is_file)
        key = None if login else CLAUDE.key(self._environ)
        base_url = job.environ.get(_URL)
        env = {
            **cli_environment(self._environ, key, base_url),
            **_QUIET,
            # As root it refuses to work unasked, unless told that nothing can happen.
            "IS_SANDBOX": "1",
            **job.environ,
            "HOME": str(job.home),
            "CLAUDE_CONFIG_DIR": str(job.home / CONFIG),
        }
        prompt = job.instruction.encode("utf-8", "replace")
        return ProcessCall(tuple(argv), prompt, env, Path(job.path), job.time_limit_s)

    def ending(self, ended: ProcessResult) -> Ending:
        """See `CodingAgent.ending`."""
        result = printed_result(ended)
        if result is None:
            return _without_result(ended)
        words = str(result.get("result") or result.get("subtype") or "")
        reason = str(result.get("terminal_reason"))
        tokens = told_tokens(result)
        known = Ending(
            cost_usd=told_cost(result, tokens, self._prices),
            tokens=tokens,
            model=_model(result),
        )
        if reason in _LIMITS:
            return replace(known, limit=_LIMITS[reason])
        if result.get("is_error"):
            status = result.get("api_error_status")
            problem = trouble(self.name, words, status if isinstance(status, int) else None)
            if isinstance(problem, InfraError):
                raise problem
            return replace(known, error=str(problem))
        return replace(known, answer=words)


def _without_result(ended: ProcessResult) -> Ending:
    if ended.timed_out:
        return Ending()
    words = ended.usage.stderr_tail.strip() or ended.stdout.decode("utf-8", "replace").strip()
    status = f"exit status {ended.usage.exit_status}"
    problem = trouble(ClaudeCode.name, words or f"no answer, {status}")
    if isinstance(problem, InfraError):
        raise problem
    return Ending(error=str(problem))


def _model(result: Mapping[str, Any]) -> str | None:
    used = result.get("modelUsage")
    return next(iter(used), None) if isinstance(used, Mapping) else None
