"""From the options of `eval run` to agent tasks, one an arm."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairtrial.app.agent_options import AgentChoice
from fairtrial.app.bench import Bench
from fairtrial.app.paths import user_path
from fairtrial.app.spec_files import json_value, read_document
from fairtrial.app.task_arms import check_arm_name
from fairtrial.model.errors import NotFoundError, UsageError
from fairtrial.model.eval_task import AGENT
from fairtrial.model.json import Json
from fairtrial.ports.suites import KeptTask
from fairtrial.tasks.agent_harness import settled_harness
from fairtrial.tasks.registry import TASKS

"""The kind of the tasks of `eval run`."""
COMMAND: Final = "command"

_TWO: Final = 2
_PROGRAMS: Final = {"claude-code": "claude", "codex": "codex"}
_HOW: Final = "give two: --arm before=AGENTS.md --arm after=new/AGENTS.md"


@dataclass(frozen=True, slots=True)
class Agents:
    """The agent tasks of a run.

    Attributes:
        common: The task of all arms, as JSON; the only one where there are no arms.
        changes: What each arm sets over it, by name, the baseline first; none for a run of one.
        note: How the agent was chosen, when nobody said.
    """

    common: Mapping[str, Json]
    changes: Mapping[str, Mapping[str, Json]]
    note: str | None = None

    @property
    def arms(self) -> dict[str, dict[str, Json]]:
        """The whole task of each arm; none for a run of one."""
        return {name: {**self.common, **change} for name, change in self.changes.items()}


def agents_of(
    bench: Bench, choice: AgentChoice, arms: Sequence[str], tasks: Sequence[KeptTask]
) -> Agents:
    """Return the agent tasks that options describe.

    Raises:
        UsageError: options do not fit, there is one arm only, or no agent is found.
        NotFoundError: a file of an arm is not there.
    """
    if arms and choice.harness is not None:
        raise UsageError(
            "both --harness and --arm are given", fix=f"each arm has its own harness; {_HOW}"
        )
    agent, note = _agent(bench, choice, tasks)
    common = {
        "kind": AGENT,
        "agent": agent,
        **_given(choice),
        **_harness(choice.harness, bench.cwd, "--harness"),
    }
    _check(common, "the agent's options")
    changes = dict(_change(bench, word) for word in arms)
    if len(changes) < len(arms):
        raise UsageError("two arms have one name", where="--arm", fix=_HOW)
    if len(arms) == 1:
        raise UsageError("one arm only: two or more are compared", where="--arm", fix=_HOW)
    empty = [name for name, change in changes.items() if not change]
    if empty and len(changes) > _TWO:
        raise UsageError(
            f"arm {empty[0]!r} sets nothing",
            where="--arm",
            why="of three or more arms each says what it is",
            fix=f"give it its harness as it stands, e.g. {empty[0]}=AGENTS.md",
        )
    for name, change in changes.items():
        _check({**common, **change}, f"--arm {name}")
    return Agents(common, changes, note)


def _given(choice: AgentChoice) -> dict[str, Json]:
    told = {
        "command": choice.command,
        "model": choice.model,
        "effort": choice.effort,
        "max_turns": choice.max_turns,
        "program": choice.program,
        "level": choice.level,
        "memory_mb": choice.memory_mb,
        "processes": choice.processes,
        "visible": list(choice.visible) or None,
        "pass_env": list(choice.pass_env) or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _agent(bench: Bench, choice: AgentChoice, tasks: Sequence[KeptTask]) -> tuple[str, str | None]:
    """Return the agent, and how it was chosen where nobody said."""
    if choice.agent is not None:
        if choice.agent == COMMAND and choice.command is None:
            raise UsageError(
                "an agent 'command' needs to know what to run",
                where="--agent",
                fix="add --command 'python3 /path/to/my_agent.py'",
            )
        return choice.agent, None
    if choice.command is not None:
        return COMMAND, None
    origins = {kept.task.origin.agent for kept in tasks if kept.task.origin is not None}
    if len(origins) == 1 and (agent := origins.pop()) in _PROGRAMS:
        return agent, f"agent {agent}: the tasks come from its sessions"
    path = bench.environ.get("PATH")
    found = [one for one, program in _PROGRAMS.items() if shutil.which(program, path=path)]
    if not found:
        raise UsageError(
            "no agent is named, and neither claude nor codex is on PATH",
            fix="install one, or name your own: --command 'python3 /path/to/my_agent.py'",
        )
    return found[0], f"agent {found[0]}: its program is on PATH"


def _change(bench: Bench, word: str) -> tuple[str, dict[str, Json]]:
    """Return an arm's name, and what it sets over the common options."""
    name, equals, text = (part.strip() for part in word.partition("="))
    if not equals or not name or not text:
        raise UsageError(
            f"{word!r} is not NAME=FILE, NAME=DIR or NAME=JSON", where="--arm", fix=_HOW
        )
    where = f"--arm {name}"
    check_arm_name(name, "--arm")
    folder = bench.cwd
    if text.startswith("{"):
        try:
            told = json_value(text)
        except (RecursionError, ValueError) as error:
            raise UsageError(f"not JSON: {error}", where=where) from None
    elif Path(text).suffix == ".json":
        path = user_path(text, bench.cwd)
        told, folder = read_document(path), path.parent
    else:
        if not user_path(text, bench.cwd).exists():
            raise NotFoundError("no such file or folder", where=f"{where}={text}")
        return name, _harness(text, folder, where)
    if not isinstance(told, dict):
        raise UsageError("options of an arm are a JSON object", where=where)
    if told.get("kind", AGENT) != AGENT:
        raise UsageError("an arm of eval run is an agent", where=where, fix="leave 'kind' out")
    return name, {**told, **_harness(told.get("harness"), folder, where)}


def _harness(given: Json, folder: Path, where: str) -> dict[str, Json]:
    """Return the files of a harness as an option; none for None."""
    if given is None:
        return {}
    if not isinstance(given, str | Mapping):
        raise UsageError("a harness is a file, a folder or an object of files", where=where)
    return {"harness": settled_harness(given, folder, where)}


def _check(task: Mapping[str, Json], where: str) -> None:
    """Refuse options that no agent has."""
    TASKS.options(AGENT, {name: value for name, value in task.items() if name != "kind"}, where)
