"""A coding agent works on an eval task in a workspace of its own; what it changed is the output."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from msgspec import Meta

from fairtrial.model.errors import InfraError, TaskError, Undecidable, UsageError
from fairtrial.model.eval_task import EVAL_TASK, EvalTask
from fairtrial.model.isolation import Isolation, Level, Limits, Wanted
from fairtrial.model.json import Json
from fairtrial.model.task import TaskCall, TaskResult
from fairtrial.ports import ProcessResult, Surroundings, Workspace
from fairtrial.ports.suites import EvalTasks, Trajectory, wanted_in
from fairtrial.ports.workspaces import RepoWorkspace
from fairtrial.providers.cli_folders import put_back
from fairtrial.tasks.agent_harness import harness_files, settled_harness
from fairtrial.tasks.coding_agents.claude_code import ClaudeCode
from fairtrial.tasks.coding_agents.codex import Codex
from fairtrial.tasks.coding_agents.in_image import Lent, lend, lent
from fairtrial.tasks.coding_agents.job import AgentOptions, CodingAgent, Ending, Job, LoginCopy
from fairtrial.tasks.coding_agents.own_command import OwnCommand

_AGENTS: Final = {"claude-code": ClaudeCode, "codex": Codex, "command": OwnCommand}
_MOST_OUTPUT: Final = 64 * 1024 * 1024
_LONGEST_TRANSCRIPT: Final = 256 * 1024 * 1024
_ADDRESSES: Final = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")


@dataclass(frozen=True)
class Options:
    """The options of an agent task. Its cases are eval tasks, as `eval run` makes them."""

    agent: Literal["claude-code", "codex", "command"]
    """Who works: Claude Code, Codex, or a command of your own that edits the files of its working
    directory and gets the instruction on its standard input."""
    model: str | None = None
    """The model (default: the agent's own choice)."""
    effort: str | None = None
    """How hard the model thinks, in the agent's own words (default: its own choice)."""
    max_turns: Annotated[int, Meta(ge=1)] | None = None
    """Turns the agent may take, where it can be told (default: no limit but that of time)."""
    command: str | tuple[str, ...] | None = None
    """With agent `command`: a text for `/bin/sh -c`, or a list of the program and its arguments."""
    program: str | None = None
    """The agent's program: a name on PATH, or a path relative to the spec's folder."""
    harness: str | Mapping[str, str] | None = None
    """Instructions that the agent is given in place of the workspace's: a file, which keeps its
    name; a folder; or an object from paths in the workspace to texts, or to `@FILE`."""
    level: Literal["none", "bwrap", "image"] | None = None
    """What stands between it and the machine (default: `image` for a task that needs one, else
    `bwrap`); `none` lets it do whatever you can."""
    image: str | None = None
    """With level `image`: the image (default: the eval task's own)."""
    memory_mb: Annotated[int, Meta(ge=16)] | None = None
    """Megabytes of memory for all its processes, where the machine can hold them to it."""
    processes: Annotated[int, Meta(ge=8)] | None = None
    """Processes it may have at a time, where the machine can hold it to that."""
    visible: tuple[str, ...] = ()
    """Folders of this machine that it may read at level `bwrap`, beside those of PATH."""
    env: Mapping[str, str] | None = None
    """With agent `command`: variables to set; `${NAME}` in a value is fairtrial's own."""
    pass_env: tuple[str, ...] = ()
    """With agent `command`: variables of fairtrial's environment that pass to it."""


@dataclass(frozen=True, slots=True)
class AgentTask:
    """Lets an agent work on a case's eval task.

    Attributes:
        options: As the user wrote them.
        agent: How the agent is run.
        evals: The eval tasks and their workspaces.
        programs: Runs programs of level `none`.
        harness: Files that are put over those of the workspace, by path.
    """

    options: Options
    agent: CodingAgent
    evals: EvalTasks
    programs: Workspace
    harness: Mapping[str, bytes]

    async def open(self) -> None:
        """Look for the agent's login, so that a run without one stops at once.

        Raises:
            InfraError: there is none, or no program can be run.
        """
        self.evals.open()
        self.agent.login()
        try:
            await self.programs.open()
        except Undecidable as error:
            raise InfraError(str(error), kind="setup") from error

    async def close(self) -> None:
        """Let go of the eval tasks; a workspace has ended with its trial."""
        self.evals.close()

    async def run(self, call: TaskCall) -> TaskResult:
        """Let the agent work, and return what it changed; see `Task.run`.

        One that runs over its limit is not a failure by itself: what it has changed is graded.
        """
        task = self.evals.task(_digest(call))
        repo = await self.evals.prepared(task.digest, self.harness)
        login = self.agent.login()
        async with self.evals.workspace(repo, await self._wanted(task, call)) as place:
            ended = await self._work(place, task, call, login)
            patch, trouble = await self._change(place)
            trajectory = await self._trajectory(place, task)
            isolation = place.isolation
        ending = self.agent.ending(ended)
        if trouble is not None:
            ending = replace(ending, error=f"what the agent changed cannot be told: {trouble}")
        return self._result(_Work(ended, ending, patch, trajectory, isolation), task)

    async def _change(self, place: RepoWorkspace) -> tuple[bytes | None, str | None]:
        """Return what the agent changed, or why its own doing leaves that unknown."""
        try:
            return await place.diff(leaving_out=sorted(self.harness)), None
        except Undecidable as problem:
            if problem.at_fault != "task":
                raise
            return None, str(problem)

    async def _work(
        self, place: RepoWorkspace, task: EvalTask, call: TaskCall, login: LoginCopy | None
    ) -> ProcessResult:
        limits = (task.agent_limit_s, call.time_limit_s)
        job = Job(
            instruction=task.instruction,
            path=place.path,
            home=place.home,
            environ=call.environ,
            contained=place.isolation.level is not Level.NONE,
            time_limit_s=min(limit for limit in limits if limit is not None),
        )
        process = replace(self.agent.process(job), max_output_bytes=_MOST_OUTPUT)
        if self.agent.config is not None and place.isolation.level is Level.IMAGE:
            found = await _lent(self.agent.name, process.argv[0])
            process = await lend(place, process, self.agent.name, found)
        if self.agent.config is not None:
            await place.copy_in({f"{self.agent.config}/.fairtrial": b""}, to=str(place.home))
        if login is None:
            return await place.run(process)
        given = await asyncio.to_thread(login.file.read_bytes)
        await place.copy_in({login.place.as_posix(): given}, to=str(place.home))
        try:
            return await place.run(process)
        finally:
            await _keep_renewed(place, login, given)

    async def _trajectory(self, place: RepoWorkspace, task: EvalTask) -> Trajectory:
        folder = self.agent.transcripts
        if folder is None:
            return Trajectory(None)
        root = place.home / folder
        files: dict[str, bytes] = {}
        for name in await place.files(str(root)):
            data = await place.read(str(root / name), _LONGEST_TRANSCRIPT)
            if data is not None:
                files[name] = data
        return await self.evals.keep_trajectory(task, self.agent.name, files)

    async def _wanted(self, task: EvalTask, call: TaskCall) -> Wanted:
        options = self.options
        memory = options.memory_mb
        wanted = Wanted(
            level=None if options.level is None else Level(options.level),
            limits=Limits(None if memory is None else memory * 1024 * 1024, options.processes),
            port=_port(call.environ),
            visible=(*self.agent.visible, *options.visible),
        )
        if wanted.level not in {None, Level.IMAGE}:
            return wanted
        image = await self.evals.image(task.digest)
        if image is not None:
            wanted = wanted_in(image, wanted)
        if options.image is not None:
            wanted = replace(wanted, level=Level.IMAGE, image=options.image)
        if wanted.level is not Level.IMAGE:
            return wanted
        if wanted.image is None:
            raise InfraError("level image: the task has no image", kind="setup")
        program = self.agent.program
        needs = () if program is None else ((await _lent(self.agent.name, program)).needs,)
        return replace(wanted, visible=(*needs, *options.visible))

    def _result(self, work: _Work, task: EvalTask) -> TaskResult:
        ending, over = work.ending, work.ended.timed_out
        notes = [f"the agent ran over its limit of {task.agent_limit_s:g} s"] if over else []
        notes += [f"the agent used up {ending.limit}"] if ending.limit else []
        notes += [f"leak: {leak}" for leak in work.trajectory.leaks[:1]]
        return TaskResult(
            output=work.output(self.agent.name, self.harness),
            error=ending.error,
            cost_usd=ending.cost_usd,
            tokens=ending.tokens,
            metrics={"over_limit": float(over), "leaks": float(len(work.trajectory.leaks))},
            process=work.ended.usage,
            note="; ".join(notes) or None,
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """What came of an agent's work."""

    ended: ProcessResult
    ending: Ending
    patch: bytes | None
    trajectory: Trajectory
    isolation: Isolation

    def output(self, agent: str, harness: Mapping[str, bytes]) -> dict[str, Json]:
        """Return what graders see, and what is kept."""
        return {
            "answer": self.ending.answer,
            **({} if self.patch is None else patch_as_json(self.patch)),
            "harness_files": sorted(harness),
            "agent": agent,
            "model": self.ending.model,
            "session": self.trajectory.session,
            "leaks": list(self.trajectory.leaks),
            "transcript_trouble": self.trajectory.trouble,
            "isolation": self.isolation.content(),
        }


def patch_as_json(patch: bytes) -> dict[str, Json]:
    """Return a patch as part of an output: as text where it is one, else as base64."""
    try:
        return {"patch": patch.decode("utf-8")}
    except UnicodeDecodeError:
        return {"patch_base64": base64.b64encode(patch).decode()}


def settle(
    options: Options, base_dir: Path, environ: Mapping[str, str], where: str
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the options that a plan fixes: the harness's files are read.

    Raises:
        UsageError: a file of it cannot be read.
    """
    del environ
    return {"harness": settled_harness(options.harness, base_dir, where)}, ()


def build(options: Options, surroundings: Surroundings, where: str) -> AgentTask:
    """Return the task.

    Raises:
        UsageError: the agent's program is not there, or options do not fit.
    """
    if options.agent != "command" and options.command is not None:
        raise UsageError(f"'command' has no effect with agent {options.agent!r}", where=where)
    if options.level == "none" and options.image:
        raise UsageError("'image' has no effect at level 'none'", where=where)
    if surroundings.evals is None:
        raise UsageError("an agent task needs eval tasks, and none can be run here", where=where)
    asked = AgentOptions(
        model=options.model,
        effort=options.effort,
        max_turns=options.max_turns,
        program=options.program,
        command=options.command,
        env=options.env or {},
        pass_env=options.pass_env,
    )
    agent: Any = _AGENTS[options.agent](asked, surroundings, where)
    harness = harness_files(settled_harness(options.harness, surroundings.base_dir, where))
    return AgentTask(options, agent, surroundings.evals, surroundings.workspace, harness)


async def _lent(agent: str, program: str) -> Lent:
    return await asyncio.to_thread(lent, agent, program)


def _digest(call: TaskCall) -> str:
    digest = call.case.metadata.get(EVAL_TASK)
    if not isinstance(digest, str):
        raise TaskError(
            f"case {call.case.id} is no eval task; an agent task runs suites: fairtrial eval run"
        )
    return digest


def _port(environ: Mapping[str, str]) -> int | None:
    """Return the port of the proxy that records a trial's calls; None when nothing does."""
    for name in _ADDRESSES:
        port = urlsplit(environ.get(name, "")).port
        if port is not None:
            return port
    return None


async def _keep_renewed(place: RepoWorkspace, login: LoginCopy, given: bytes) -> None:
    """Put a login that the agent renewed where the user's is, unless that has changed meanwhile.

    Renewing it can end the old one.
    """
    try:
        now = await place.read(str(place.home / login.place))
    except Undecidable:
        return
    if now and now != given and await asyncio.to_thread(login.file.read_bytes) == given:
        await asyncio.to_thread(put_back, now, login.file)
