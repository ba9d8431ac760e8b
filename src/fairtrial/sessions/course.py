"""The course of a session: calls with their results, what was verified, what was changed.

It is made in one pass over the events; all flags and decision points of the program share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from fairtrial.conduct.program_names import program_words
from fairtrial.conduct.shell_words import SimpleCommand, simple_commands
from fairtrial.conduct.verification import CheckKind, check_kind
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    ChangeKind,
    Compaction,
    FileChange,
    Operation,
    Prompt,
    Result,
    ResultStatus,
    Said,
    Session,
    SessionEvent,
    SessionState,
    Source,
    TurnEnd,
)
from fairtrial.sessions.file_roles import FileRole
from fairtrial.sessions.mutations import (
    Mutation,
    ShellWrite,
    Territory,
    mutations_of_changes,
    mutations_of_shell,
    shell_writes,
)
from fairtrial.sessions.repetition import call_key
from fairtrial.sessions.verdicts import Verdict, verdict_of

ENDED: Final = (SessionState.COMPLETED, SessionState.QUESTION)
"""States in which the agent had the last word."""
FAILED: Final = (ResultStatus.FAIL, ResultStatus.NO_RUN)
_CHANGED_NOTHING: Final = (
    ResultStatus.DENIED,
    ResultStatus.INTERRUPTED,
    ResultStatus.NO_RUN,
)
_EDITS: Final = (Operation.EDIT, Operation.WRITE)
_FINDERS: Final = frozenset(
    {"grep", "egrep", "fgrep", "rg", "ag", "diff", "cmp", "test", "[", "[[", "pgrep", "which"}
    | {"type", "command", "ls", "find", "jq", "expr", "true", "colordiff"}
)
"""Programs whose exit code 1 is an answer."""
_CANCELLED: Final = "Sibling tool call errored"
"""What Claude Code says of a call that it dropped because one beside it failed."""
_GIT_FINDERS: Final = frozenset({"diff", "grep", "merge-base", "show-ref", "check-ignore"})


@dataclass(frozen=True, slots=True)
class Check:
    """A verification that was run.

    Attributes:
        kind: What it verifies.
        verdict: How it ended.
        program: The program.
        call: The call it was made by.
        result: The result that tells how it ended.
    """

    kind: CheckKind
    verdict: Verdict
    program: str
    call: Call
    result: Result

    @property
    def number(self) -> int:
        """The event that tells how it ended."""
        return self.result.number

    @property
    def ran(self) -> bool:
        """Whether it verified something, as far as can be told."""
        return self.verdict in (Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Step:
    """A call and what it brought.

    Attributes:
        call: The call.
        result: Its result; of a command in the background, the newest one.
        key: Equal for calls of one tool with the same input.
        commands: The programs that it runs, when it is a shell command.
        checks: The verifications among them.
        mutations: The files that it changed.
    """

    call: Call
    result: Result
    key: bytes
    commands: tuple[SimpleCommand, ...] = ()
    checks: tuple[Check, ...] = ()
    mutations: tuple[Mutation, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it failed; a search that found nothing, or a refusal, is no failure."""
        if self.result.status not in FAILED or self.result.text[:200].find(_CANCELLED) >= 0:
            return False
        return self.result.exit_code != 1 or not self.commands or not _is_finder(self.commands[-1])


@dataclass(frozen=True, slots=True)
class Turn:
    """From a prompt in the main thread up to the next one.

    Attributes:
        prompt: What began it; None for what stands before the first prompt.
        start: Number of its first event.
        end: Number of its last event.
        text: What the agent said at its end, after its last call; empty when it ended otherwise.
        said: The event of the last part of `text`; None when there is none.
    """

    prompt: Prompt | None
    start: int
    end: int
    text: str = ""
    said: int | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """What happened in a session.

    Attributes:
        session: The session.
        events: All its events.
        now: The moment it is looked at.
        steps: Calls that have a result, in the order of the results.
        pending: Calls that have none.
        checks: All verifications, in the order of their results.
        mutations: All changed files, in the order of the results.
        turns: The turns of the main thread.
        troubles: When the model could not be reached.
        ends: Signs of the end of a turn.
        compactions: How often the conversation was replaced by a summary.
        threads: All threads, in the order they appeared.
    """

    session: Session
    events: Sequence[SessionEvent]
    now: datetime
    steps: tuple[Step, ...]
    pending: tuple[Call, ...]
    checks: tuple[Check, ...]
    mutations: tuple[Mutation, ...]
    turns: tuple[Turn, ...]
    troubles: tuple[ApiTrouble, ...]
    ends: tuple[TurnEnd, ...]
    compactions: int
    threads: tuple[str, ...]

    @property
    def ended(self) -> bool:
        """Whether the agent had the last word, and nothing was pending."""
        return self.session.state in ENDED

    def last_test(self) -> Check | None:
        """Return the last run of tests that passed or failed."""
        for check in reversed(self.checks):
            if check.kind is CheckKind.TEST and check.verdict in (Verdict.PASS, Verdict.FAIL):
                return check
        return None

    def code_mutations(self) -> Iterator[Mutation]:
        """Yield the changes of files that are no documents, in order."""
        return (mutation for mutation in self.mutations if mutation.is_code)

    def texts_after(self, number: int) -> Iterator[str]:
        """Yield what the agent said at the ends of turns after an event."""
        return (turn.text for turn in self.turns if turn.said is not None and turn.said > number)


def course_of(session: Session, events: Sequence[SessionEvent], now: datetime) -> Course:
    """Return the course of a session."""
    tracer = _Tracer(session)
    for event in events:
        take = _TAKEN.get(type(event))
        if take is not None:
            take(tracer, event)
    tracer.end_turn(len(events))
    pending = [call for call_id, call in tracer.calls.items() if call_id not in tracer.places]
    return Course(
        session,
        events,
        now,
        steps=tuple(tracer.steps),
        pending=tuple(pending),
        checks=tuple(tracer.checks),
        mutations=tuple(tracer.mutations),
        turns=tuple(tracer.turns),
        troubles=tuple(tracer.troubles),
        ends=tuple(tracer.ends),
        compactions=tracer.compactions,
        threads=tuple(tracer.threads),
    )


@dataclass(frozen=True, slots=True)
class _Parsed:
    """What a shell command does, whatever comes of it."""

    commands: tuple[SimpleCommand, ...]
    checks: tuple[tuple[SimpleCommand, CheckKind], ...]
    writes: tuple[ShellWrite, ...]


@dataclass(slots=True)
class _Tracer:
    """What is gathered while the events go by."""

    session: Session
    territory: Territory = field(init=False)
    calls: dict[str, Call] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    parsed: dict[str, _Parsed] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    troubles: list[ApiTrouble] = field(default_factory=list)
    ends: list[TurnEnd] = field(default_factory=list)
    threads: dict[str, None] = field(default_factory=dict)
    compactions: int = 0
    prompt: Prompt | None = None
    start: int = 1
    said: list[Said] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.territory = Territory(self.session.cwd, self.session.repo)

    def call(self, event: Call) -> None:
        self.calls[event.id] = event
        if event.thread == MAIN:
            self.said.clear()
        if event.thread not in self.threads:
            self.threads[event.thread] = None

    def result(self, event: Result) -> None:
        if event.thread == MAIN:
            self.said.clear()
        call = self.calls.get(event.call_id)
        if call is None:
            return
        step = self._step(call, event)
        self.checks += step.checks
        self.mutations += step.mutations
        place = self.places.get(call.id)
        if place is None:
            self.places[call.id] = len(self.steps)
            self.steps.append(step)
        else:
            self.steps[place] = step

    def _step(self, call: Call, result: Result) -> Step:
        number, thread, key = result.number, call.thread, call_key(call)
        if call.command is not None:
            parsed = self.parsed.get(call.command)
            if parsed is None:
                parsed = self.parsed[call.command] = _parsed(call.command)
            mutations: tuple[Mutation, ...] = ()
            if parsed.writes and _may_have_run(result, parsed.commands):
                found = mutations_of_shell(parsed.writes, self.territory, number, thread)
                mutations = tuple(found)
            if result.changes:
                mutations += tuple(
                    mutations_of_changes(result.changes, self.territory, number, thread)
                )
            checks = _checks(call, parsed, result) if parsed.checks else ()
            return Step(call, result, key, parsed.commands, checks, mutations)
        changes = result.changes
        if not changes and call.operation in _EDITS and result.status is ResultStatus.OK:
            changes = tuple(FileChange(path, ChangeKind.UPDATE) for path in call.paths)
        if not changes or result.status in (*FAILED, *_CHANGED_NOTHING):
            return Step(call, result, key)
        changed = tuple(mutations_of_changes(changes, self.territory, number, thread))
        return Step(call, result, key, mutations=changed)

    def text(self, event: Said) -> None:
        if event.thread == MAIN:
            self.said.append(event)

    def prompted(self, event: Prompt) -> None:
        if event.thread != MAIN:
            return
        self.end_turn(event.number - 1)
        self.prompt, self.start = event, event.number

    def end_turn(self, end: int) -> None:
        if self.prompt is not None or end >= self.start:
            text = "\n".join(said.text for said in self.said)
            said = self.said[-1].number if self.said else None
            self.turns.append(Turn(self.prompt, self.start, end, text, said))
        self.said.clear()

    def trouble(self, event: ApiTrouble) -> None:
        self.troubles.append(event)

    def ended(self, event: TurnEnd) -> None:
        self.ends.append(event)

    def compacted(self, _event: Compaction) -> None:
        self.compactions += 1


_TAKEN: Final[Mapping[type, Callable[[_Tracer, Any], None]]] = {
    Call: _Tracer.call,
    Result: _Tracer.result,
    Said: _Tracer.text,
    Prompt: _Tracer.prompted,
    ApiTrouble: _Tracer.trouble,
    TurnEnd: _Tracer.ended,
    Compaction: _Tracer.compacted,
}


def _parsed(command: str) -> _Parsed:
    commands = simple_commands(command)
    kinds = ((found, check_kind(found.words)) for found in commands)
    checks = tuple((found, kind) for found, kind in kinds if kind is not None)
    return _Parsed(commands, checks, tuple(shell_writes(commands)))


def _checks(call: Call, parsed: _Parsed, result: Result) -> tuple[Check, ...]:
    found: list[Check] = []
    for command, kind in parsed.checks:
        program = program_words(command.words)[0]
        verdict = verdict_of(kind, command, program, result)
        found.append(Check(kind, verdict, program, call, result))
    return tuple(found)


def _may_have_run(result: Result, commands: Sequence[SimpleCommand]) -> bool:
    """Return whether a part of a shell command may have done its work."""
    if result.status in FAILED:
        return len(commands) > 1  # it may be the last one that failed
    return result.status not in _CHANGED_NOTHING


def _is_finder(command: SimpleCommand) -> bool:
    name = command.program
    if name == "git":
        return any(word in _GIT_FINDERS for word in command.words[1:3])
    return name in _FINDERS


def is_from_user(prompt: Prompt | None) -> bool:
    """Return whether a person or a program wrote a prompt, not the agent's surroundings."""
    return prompt is not None and prompt.source in (Source.HUMAN, Source.SDK)


def touches_tests(mutation: Mutation) -> bool:
    """Return whether a change is of a test file, or of what decides which tests run."""
    return mutation.role in (FileRole.TEST, FileRole.TEST_CONFIG)
