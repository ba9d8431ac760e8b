"""The real Claude Code and Codex, driven through a script against a model on loopback."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairtrial.model.call import ToolUse
from fairtrial.model.json import Json
from fairtrial.testing.model_server import ModelServer, ScriptedAnswer

AGENTS = Path(__file__).parents[3] / ".agents/node_modules/.bin"
needs_agents = pytest.mark.skipif(
    not all((AGENTS / name).exists() for name in ("claude", "codex")),
    reason="needs `make agents`: the real Claude Code and Codex, from npm",
)
_SECONDS = 120


@dataclass
class Agent:
    """One agent with a home of its own, and what it says at the end."""

    kind: str
    home: Path
    done: str = "Done."

    def run(self, cwd: Path, steps: Sequence[Sequence[ToolUse]]) -> list[Json]:
        """Let it work in a folder: it calls these tools, some at a time, and says that it is done.

        A step that the agent refuses shows in the tree that it leaves. Returns the requests that
        the model got.
        """
        answers = [ScriptedAnswer("", tool_uses=tuple(uses)) for uses in steps]
        self.home.mkdir(exist_ok=True)
        tmp = self.home / "tmp"
        tmp.mkdir(exist_ok=True)
        with ModelServer([*answers, ScriptedAnswer(self.done)]) as server:
            words, environ = self._command(server, cwd)
            done = subprocess.run(
                words,
                cwd=cwd,
                env={**self._environ(tmp), **environ},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
            assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
            assert len(server.calls) == len(steps) + 1, server.calls[-1].text[-2000:]
            return [call.body for call in server.calls]

    def _environ(self, tmp: Path) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(tmp),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def _command(self, server: ModelServer, cwd: Path) -> tuple[list[str], dict[str, str]]:
        if self.kind == "claude-code":
            words = [str(AGENTS / "claude"), "-p", "Work.", "--model", "claude-sonnet-5-5"]
            words += ["--permission-mode", "acceptEdits", "--setting-sources", ""]
            words += ["--allowedTools", "Bash", "Read", "Edit", "Write"]
            quiet = ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY"]
            quiet += ["DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"]
            return words, {
                "ANTHROPIC_BASE_URL": server.url,
                "ANTHROPIC_API_KEY": "not-a-key",
                "CLAUDE_CONFIG_DIR": str(self.home / "claude"),
                **dict.fromkeys(quiet, "1"),
            }
        home = self.home / "codex"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(
            'model = "gpt-5.5"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
            '[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{server.v1_url}"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
            "[analytics]\nenabled = false\n[features]\nplugins = false\n"
        )
        bypass = "--dangerously-bypass-approvals-and-sandbox"
        words = [str(AGENTS / "codex"), "exec", "--json", "-C", str(cwd), bypass, "Work."]
        return words, {"CODEX_HOME": str(home), "FAKE_KEY": "not-a-key"}
