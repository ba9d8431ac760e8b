"""What the providers share that run a CLI on the user's subscription: one process for each call."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar, Final
from weakref import WeakValueDictionary

from msgspec import Meta

from fairtrial.model.call import Api, ModelCall, ModelReply, WireCall
from fairtrial.model.errors import InfraError, ProviderError, TaskError, Undecidable
from fairtrial.model.json import Json
from fairtrial.ports import ProcessCall, ProcessResult, Provider, Surroundings
from fairtrial.providers.cli_environment import (
    cli_environment,
    on_loopback,
    without_key,
)
from fairtrial.providers.cli_folders import Place, ThrowawayFolders, mark
from fairtrial.providers.login import Login

AT_A_TIME: Final = 2
_MOST_OUTPUT: Final = 64 * 1024 * 1024
# A subscription is the user's, whatever number of graders call it: so those of one loop share
# their turns. The last provider that goes takes the entry with it.
_TURNS: Final[WeakValueDictionary[tuple[int, str], asyncio.Semaphore]] = WeakValueDictionary()


@dataclass(frozen=True)
class CliOptions:
    """The options of every provider that runs a CLI."""

    model: str | None = None
    """The model of calls that name none."""
    effort: str | None = None
    """How hard the model thinks: `low`, `medium`, `high`, or what else the CLI takes; without it,
    the CLI's own choice."""
    timeout_s: Annotated[float, Meta(gt=0, le=86400)] = 300
    """Seconds one call may take, without its wait for a turn."""
    program: str | None = None
    """The CLI: a name on PATH, or a path relative to the spec's folder."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a call may use to be let in, and where it goes.

    Attributes:
        login: The file of the user's login; None when a key stands in for it.
        key: The name of the variable that stands in for it.
        base_url: Where the call goes; None is the CLI's own address.
    """

    login: Path | None
    key: str | None
    base_url: str | None


class CliProvider(Provider, ABC):
    """Answers a call by a process of a CLI, `AT_A_TIME` processes at a time."""

    kind: ClassVar[str]
    api: ClassVar[Api]
    login: ClassVar[Login]
    base_url_variable: ClassVar[str]

    def __init__(self, options: CliOptions, surroundings: Surroundings, program: str) -> None:
        self._options = options
        self._surroundings = surroundings
        self._program = program
        given = surroundings.environ.get("TMPDIR")
        self._folders = ThrowawayFolders(Path(given) if given else None)
        self._turns: asyncio.Semaphore | None = None
        self._running: set[asyncio.Future[None]] = set()

    @property
    def identity(self) -> Json:
        """See `Provider.identity`; what a call asks for and the CLI cannot pass on stands in it."""
        return {
            "kind": self.kind,
            "model": self.default_model,
            "effort": self._options.effort,
            "ignores": ["max_tokens"],
        }

    @property
    @abstractmethod
    def default_model(self) -> str:
        """The model of calls that name none."""

    @abstractmethod
    def process(self, call: ModelCall, place: Place, access: Access) -> ProcessCall:
        """Return the process that answers a call; its `env` holds only what is its own."""

    @abstractmethod
    def reply(self, ended: ProcessResult, call: ModelCall) -> ModelReply:
        """Return what a process answered.

        Raises:
            InfraError: the world failed.
            ProviderError: the call was refused.
        """

    @abstractmethod
    def continuing(self, call: WireCall, place: Place, access: Access) -> ProcessCall:
        """Return the process that goes on with a recorded request for one turn.

        Raises:
            ProviderError: the CLI cannot go on with it.
        """

    @abstractmethod
    def next_turn(self, ended: ProcessResult, call: WireCall) -> ModelReply:
        """Return the turn that such a process brought; see `reply`."""

    async def open(self) -> None:
        """Open the workspace and make the folder that calls live in.

        Raises:
            InfraError: it cannot be made, or no program can run.
        """
        turn = (id(asyncio.get_running_loop()), self.kind)
        self._turns = _TURNS.setdefault(turn, asyncio.Semaphore(AT_A_TIME))
        try:
            self._folders.open()
            await self._surroundings.workspace.open()
        except (OSError, Undecidable) as error:
            raise InfraError(f"{self.kind} cannot be run: {error}", kind="setup") from error

    async def close(self) -> None:
        """Remove the folder that calls live in."""
        self._folders.close()
        self._turns = None

    async def send(self, call: WireCall) -> ModelReply:
        """Let the CLI go on with a recorded request for one turn; see `Provider.send`.

        The request's turns reach the model as they are, in a request of the CLI's own: its tools,
        and what it says of itself. Every tool that the model asks for is refused.
        """
        if call.api is not self.api:
            raise ProviderError(
                f"{self.kind} goes on with {self.api} requests alone, and this one is of "
                f"{call.api}: use an API provider"
            )
        return await self._asked(
            call,
            lambda place, access: self.continuing(call, place, access),
            lambda ended: self.next_turn(ended, call),
        )

    async def complete(self, call: ModelCall) -> ModelReply:
        """Run the CLI once; see `Provider.complete`."""
        self._refuse(call)
        return await self._asked(
            call,
            lambda place, access: self.process(call, place, access),
            lambda ended: self.reply(ended, call),
        )

    async def _asked(
        self,
        call: ModelCall | WireCall,
        process: Callable[[Place, Access], ProcessCall],
        reply: Callable[[ProcessResult], ModelReply],
    ) -> ModelReply:
        """Run the CLI once.

        It is run again when its login was refused because another process had just renewed it.
        """
        file = self._access(call).login
        before = mark(file) if file else None
        try:
            return reply(await self._attempt(call, process))
        except InfraError as error:
            if error.kind != "login" or file is None or not await self._renewed(file, before):
                raise
        return reply(await self._attempt(call, process))

    async def _attempt(
        self, call: ModelCall | WireCall, process: Callable[[Place, Access], ProcessCall]
    ) -> ProcessResult:
        if self._turns is None:
            raise InfraError(f"{self.kind} is not open", kind="setup")
        async with self._turns:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._running.add(done)
            try:
                ended = await self._answer(call, process)
            finally:
                self._running.discard(done)
                done.set_result(None)
        if ended.timed_out:
            limit = f"{self._options.timeout_s:g} s (option 'timeout_s')"
            raise InfraError(f"{self.kind} did not answer within {limit}", kind="network")
        if ended.truncated:
            raise ProviderError(f"{self.kind} printed more than {_MOST_OUTPUT:,} bytes")
        return ended

    async def _answer(
        self, call: ModelCall | WireCall, process: Callable[[Place, Access], ProcessCall]
    ) -> ProcessResult:
        access = self._access(call)
        try:
            with self._folders.place(access.login, self.login.file) as place:
                return await self._run(process(place, access), access)
        except OSError as error:
            message = f"{self.kind} got no folder to run in: {error}"
            raise InfraError(message, kind="setup") from error

    async def _renewed(self, file: Path, before: object) -> bool:
        """Return whether the user's login has changed, once the calls that run now have ended."""
        if self._running:
            await asyncio.wait(set(self._running))
        return mark(file) not in (before, None)

    def _refuse(self, call: ModelCall) -> None:
        if call.tools or any(turn.tool_uses or turn.tool_results for turn in call.messages):
            raise ProviderError(f"{self.kind} takes no tools: use an API provider")
        given = ["temperature"] if call.temperature is not None else []
        given += sorted(call.params)
        if given:
            raise ProviderError(
                f"{self.kind} cannot pass on {', '.join(given)}: leave it out, or use an API "
                "provider"
            )
        if not call.messages or call.messages[-1].role != "user":
            raise ProviderError(f"{self.kind} needs a user's message at the end")
        if not call.messages[-1].text.strip():
            raise ProviderError(f"{self.kind} takes no empty message")

    def _access(self, call: ModelCall | WireCall) -> Access:
        environ = self._surroundings.environ
        login = self.login.found(environ, Path.is_file)
        key = None if login else self.login.key(environ)
        if login is None and key is None:
            raise InfraError(f"{self.kind} is not logged in: {self.login.how}", kind="login")
        if call.base_url and not on_loopback(call.base_url):
            raise ProviderError(
                f"{self.kind} takes its login to no other machine: {call.base_url} is not loopback"
            )
        # A key goes where the user sends it; a login only to those who gave it.
        own = environ.get(self.base_url_variable) if key == self.login.api_key else None
        return Access(login, key, call.base_url or own or None)

    async def _run(self, process: ProcessCall, access: Access) -> ProcessResult:
        env = cli_environment(self._surroundings.environ, access.key, access.base_url)
        whole = replace(
            process,
            env={**env, **process.env},
            time_limit_s=self._options.timeout_s,
            max_output_bytes=_MOST_OUTPUT,
        )
        try:
            ended = await self._surroundings.workspace.run(whole)
        except (TaskError, Undecidable) as error:
            raise InfraError(f"{self.kind} did not run: {error}", kind="setup") from error
        return without_key(ended, access.key, self._surroundings.environ)
