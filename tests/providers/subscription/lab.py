"""Where the subscription CLIs are tried: a home with a planted login, and programs to run."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from fairtrial.app.bench import SystemClock
from fairtrial.model.call import Message, ModelCall, ModelReply
from fairtrial.model.errors import TrialProblem
from fairtrial.model.json import Json
from fairtrial.ports import Prices, Provider, Surroundings
from fairtrial.providers.cli_folders import PREFIX
from fairtrial.providers.login import CLAUDE, CODEX
from fairtrial.providers.registry import build_provider, provider_spec
from fairtrial.testing.model_server import ScriptedAnswer
from fairtrial.workspaces.host.client import HostWorkspace

T = TypeVar("T")
AGENTS = Path(__file__).parents[3] / ".agents/node_modules/.bin"
PROGRAMS = {"claude-code": "claude", "codex": "codex"}
LOGINS = {"claude-code": CLAUDE, "codex": CODEX}
needs_agents = pytest.mark.skipif(
    not all((AGENTS / name).exists() for name in PROGRAMS.values()),
    reason="needs `make agents`: the real Claude Code and Codex, from npm",
)


@dataclass
class Lab:
    """A user's home, a folder for temporary files, and the environment that names them."""

    folder: Path
    tmp: Path
    prices: Prices | None = None
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "home").mkdir()
        self.environ |= {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.tmp),
            # What is not for loopback goes nowhere.
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
        }

    def log_in(self, kind: str, content: str = "a login") -> Path:
        """Plant a login; return its file."""
        path = LOGINS[kind].path(self.environ)
        assert path is not None
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return path

    def stand_in(self, source: str) -> Path:
        """Return a program that runs Python source in the place of a CLI."""
        path = self.folder / f"stand-in-{len(list(self.folder.iterdir()))}"
        path.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
        path.chmod(0o700)
        return path

    def printing(self, stdout: str, *, status: int = 0, stderr: str = "") -> Path:
        """Return a program that prints a text and ends."""
        return self.stand_in(
            "import sys\n"
            "sys.stdin.buffer.read()\n"
            f"sys.stdout.buffer.write({stdout.encode()!r})\n"
            f"sys.stderr.buffer.write({stderr.encode()!r})\n"
            f"sys.exit({status})\n"
        )

    def provider(self, kind: str, program: Path | None = None, **options: Json) -> Provider:
        """Return a provider that is not open; without a program it runs the real CLI."""
        path = program or AGENTS / PROGRAMS[kind]
        spec = provider_spec({"kind": kind, "program": str(path), **options}, "test")
        workspace = HostWorkspace(slots=8)
        surroundings = Surroundings(
            self.folder, self.environ, workspace, prices=self.prices, clock=SystemClock()
        )
        return build_provider(spec, surroundings, "test")

    def session(self, provider: Provider, work: Callable[[Provider], Awaitable[T]]) -> T:
        """Open a provider, work with it, and close it with its workspace."""

        async def run() -> T:
            try:
                await provider.open()
                return await work(provider)
            finally:
                await provider.close()
                await provider._surroundings.workspace.close()  # type: ignore[attr-defined]

        return asyncio.run(run())

    def ask(self, provider: Provider, call: ModelCall) -> ModelReply:
        return self.session(provider, lambda it: it.complete(call))

    def refused(self, provider: Provider, call: ModelCall) -> TrialProblem:
        """Return what a call raised."""
        with pytest.raises(TrialProblem) as caught:
            self.ask(provider, call)
        return caught.value

    def left(self) -> list[Path]:
        """Return what calls have left among the temporary files."""
        return list(self.tmp.iterdir())

    def places(self) -> Sequence[Path]:
        """Return the folders of the calls that run now."""
        return list(self.tmp.glob(f"{PREFIX}*/*/config"))


def question(text: str = "Say hello.", url: str | None = None, **more: object) -> ModelCall:
    """Return a call of one turn."""
    return ModelCall((Message("user", text),), base_url=url, **more)  # type: ignore[arg-type]


def spent_limit(kind: str, lifted: int) -> ScriptedAnswer:
    """Return how a service says that a usage limit is spent, and when it is lifted."""
    if kind == "claude-code":
        return ScriptedAnswer(
            status=429,
            headers={
                "anthropic-ratelimit-unified-status": "rejected",
                "anthropic-ratelimit-unified-reset": str(lifted),
                "anthropic-ratelimit-unified-representative-claim": "five_hour",
            },
        )
    spent = {"type": "usage_limit_reached", "message": "x", "plan_type": "plus"}
    error = {"error": {**spent, "resets_at": lifted}}
    return ScriptedAnswer(status=429, body=json.dumps(error).encode())
