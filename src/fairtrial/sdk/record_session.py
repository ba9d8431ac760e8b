"""`fairtrial.record_session`: any program's conversation with a model, as a session."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ulid import ULID

from fairtrial.app.bench import Bench, bench_here
from fairtrial.app.journals import journal_folder
from fairtrial.app.session_syncing import redactor, syncer
from fairtrial.model.errors import FairtrialError
from fairtrial.model.json import Json
from fairtrial.model.session import TurnEndReason
from fairtrial.ports.transcript_files import FoundFile
from fairtrial.sessions.finding import NewFile
from fairtrial.sessions.journal import Journal
from fairtrial.sessions.readers.recorded.reader import RecordedReader
from fairtrial.sessions.readers.recorded.records import Line

_VERSION = 1


@dataclass
class ToolRun:
    """A tool that runs; what it brought is set before its block ends.

    Attributes:
        id: Names the call.
        output: What it brought, as the model is shown it: a text, or any JSON value.
        exit_code: Of a command.
        error: Why it failed; an exception that leaves the block sets it.
    """

    id: str
    output: Any = None
    exit_code: int | None = None
    error: str | None = None


@dataclass
class RecordedSession:
    """A session that is being recorded; it may be used from several threads.

    Each thing is on disk when its method returns, without secrets: what a crash interrupts is kept
    up to there, and `fairtrial sessions sync` reads it. At the end of the block the session is in
    the store, with its flags.

    Attributes:
        native_id: What the program calls the session.
        stored: Whether it is in the store; False also when that failed, until the next
            `fairtrial sessions sync`.
    """

    native_id: str
    _bench: Bench
    _head: Line
    _journal: Journal | None = field(default=None, init=False)
    stored: bool = field(default=False, init=False)

    def prompt(self, text: str, *, source: Literal["human", "sdk", "system"] = "human") -> None:
        """Record what the program was asked; a turn begins.

        Args:
            text: The text.
            source: Who wrote it: a person, a program (`sdk`), or the surroundings (`system`).
        """
        self._write(Line("prompt", text=text, source=source))

    def say(self, text: str) -> None:
        """Record what the model said."""
        self._write(Line("said", text=text))

    def think(self, text: str) -> None:
        """Record what the model thought and did not say."""
        self._write(Line("thought", text=text))

    def call(self, tool: str, input: Json = None, *, id: str | None = None) -> str:  # noqa: A002  # as models call them
        """Record that the model called a tool; return the id of the call.

        Args:
            tool: Its name. Usual ones (`bash`, `read_file`, `edit`, …) are understood, so that
                flags know commands, tests and changed files.
            input: Its arguments, usually an object.
            id: The call's id; None makes one.
        """
        call_id = id or f"call_{ULID()}"
        self._write(Line("call", call=call_id, tool=tool, input=input))
        return call_id

    def result(
        self,
        call: str,
        output: Any = None,
        *,
        exit_code: int | None = None,
        error: str | None = None,
        took_s: float | None = None,
    ) -> None:
        """Record what a call brought.

        Args:
            call: The id of the call.
            output: What the model was shown: a text, or any JSON value.
            exit_code: Of a command; one that is not 0 is a failure.
            error: Why it failed.
            took_s: Seconds that it took.
        """
        self._write(
            Line("result", call=call, output=output, exit_code=exit_code, text=error, took_s=took_s)
        )

    @contextmanager
    def tool(self, name: str, input: Json = None) -> Iterator[ToolRun]:  # noqa: A002  # as above
        """Record a call and what it brings, around the code that runs it.

        An exception is recorded as the call's failure, and goes on.
        """
        run = ToolRun(self.call(name, input))
        started = time.monotonic()
        try:
            yield run
        except BaseException as error:
            run.error = run.error or f"{type(error).__name__}: {error}"
            raise
        finally:
            took = time.monotonic() - started
            self.result(run.id, run.output, exit_code=run.exit_code, error=run.error, took_s=took)

    def usage(
        self,
        model: str,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cache_read_tokens: int | None = None,
        cache_write_tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        """Record what one call of a model took; None is unknown.

        Args:
            model: The model that answered.
            input_tokens: Read and not from a cache.
            output_tokens: Written, reasoning included.
            cache_read_tokens: Read from the provider's cache.
            cache_write_tokens: Read and put into it.
            cost_usd: What it cost; None takes the price list.
        """
        given = {
            "input": input_tokens,
            "output": output_tokens,
            "cache_read": cache_read_tokens,
            "cache_write": cache_write_tokens,
        }
        tokens = {part: count for part, count in given.items() if count is not None}
        self._write(
            Line("usage", call=f"usage_{ULID()}", model=model, tokens=tokens, cost_usd=cost_usd)
        )

    def trouble(self, text: str, *, status: int | None = None, final: bool = False) -> None:
        """Record that the model could not be reached, or refused.

        Args:
            text: What was said about it.
            status: The HTTP status.
            final: Whether the program gave up.
        """
        self._write(Line("trouble", text=text, http_status=status, final=final))

    def __enter__(self) -> Self:
        """Begin; the journal is there from now on.

        Raises:
            UsageError: the user's rules of secrets cannot be read.
            OSError: the journal cannot be written.
        """
        path = journal_folder(self._bench) / f"{self.native_id}.jsonl"
        self._journal = Journal(path, redactor(self._bench).body, self._bench.clock.now)
        self._write(self._head)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End, and bring the session into the store; an exception goes on."""
        journal = self._journal
        if journal is None:
            return
        reason = TurnEndReason.COMPLETED if error is None else TurnEndReason.INTERRUPTED
        with suppress(OSError):
            self._write(Line("end", reason=reason.value))
        journal.close()
        self._keep(journal.path)

    async def __aenter__(self) -> Self:
        """Begin, as `with` does."""
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End, as `with` does; other tasks go on meanwhile."""
        await asyncio.to_thread(self.__exit__, kind, error, traceback)

    def _write(self, line: Line) -> None:
        if self._journal is None:
            raise RuntimeError("a session is recorded within its block: with record_session(…)")
        self._journal.write(line)

    def _keep(self, path: Path) -> None:
        """Bring the journal into the store; where that fails it stays for the next sync."""
        with suppress(FairtrialError, OSError):
            status = path.stat()
            found = FoundFile(str(path), status.st_ino, status.st_size, status.st_mtime_ns)
            reading = syncer(self._bench, lambda _trouble: None)
            outcome = reading.sync([NewFile(RecordedReader(), found)], lambda _done, _of: None)
            self.stored = outcome.read == 1
            if self.stored:
                path.unlink()
        with suppress(FairtrialError, OSError):
            self._bench.close()


def record_session(
    *,
    agent: str = "program",
    agent_version: str | None = None,
    environ: Mapping[str, str] | None = None,
    session_id: str | None = None,
) -> RecordedSession:
    """Return what records a session of this program, within a `with` or an `async with` block.

    `with record_session(agent="my-bot") as session: …`

    Args:
        agent: What the program is called: `agent` in filters and lists.
        agent_version: Its version.
        environ: Where the store is, as the environment says it; None is that of the process.
        session_id: What the program calls the session; None makes an id.

    Raises:
        NotFoundError: the folder that FAIRTRIAL_HOME starts at is not there.
        ValueError: the agent or the id cannot be a name.
    """
    native_id = session_id or f"rec_{ULID()}"
    if not _is_agent(agent):
        raise ValueError("an agent is called by one printable line of at most 200 characters")
    if not _is_name(native_id):
        raise ValueError(
            "a session_id is a name of at most 200 characters: letters, digits, '.', '_' and '-'"
        )
    head = Line(
        "session",
        at=datetime.now(UTC),
        journal=_VERSION,
        id=native_id,
        agent=agent,
        agent_version=agent_version,
        cwd=os.getcwd(),  # noqa: PTH109  # as the program sees it
    )
    return RecordedSession(native_id, bench_here(environ), head)


def _is_agent(given: object) -> bool:
    return (
        isinstance(given, str) and bool(given.strip()) and given.isprintable() and len(given) <= 200
    )


def _is_name(text: object) -> bool:
    if not isinstance(text, str) or not text:
        return False
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    return plain.isascii() and plain.isalnum() and len(text) <= 200 and text[0] != "."
