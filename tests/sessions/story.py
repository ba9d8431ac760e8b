"""A small writer of sessions: what happened, line by line, without the form of any agent."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from fairtrial.model.flag import Flag
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    ChangeKind,
    Counts,
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
    TurnEndReason,
    Unread,
)
from fairtrial.sessions.course import Course, course_of
from fairtrial.sessions.flags.built_in import built_in_rules

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CWD = "/home/dev/app"
FAILING = "FAILED test_calc.py::test_add - assert 0 == 5\n1 failed, 2 passed in 0.21s"
PASSING = "3 passed in 0.03s"


class Story:
    """What happened in a session. Each method is one thing that did."""

    def __init__(self, state: SessionState = SessionState.COMPLETED) -> None:
        self.events: list[SessionEvent] = []
        self.state = state
        self._at = START
        self._calls = 0

    def _add(self, event: SessionEvent) -> int:
        self._at += timedelta(seconds=1)
        number = len(self.events) + 1
        self.events.append(dataclasses.replace(event, number=number, at=self._at))
        return number

    def prompt(self, text: str, source: Source = Source.HUMAN) -> Story:
        self._add(Prompt(0, None, MAIN, text, source))
        return self

    def say(self, text: str) -> Story:
        self._add(Said(0, None, MAIN, text))
        return self

    def call(self, tool: str, operation: Operation, arguments: Any, **more: Any) -> str:
        """A call whose result is not there yet."""
        self._calls += 1
        thread = more.pop("thread", MAIN)
        name = f"call_{self._calls}"
        event = Call(0, None, thread, id=name, tool=tool, operation=operation, input=arguments)
        self._add(dataclasses.replace(event, **more))
        return name

    def result(
        self, call: str, status: ResultStatus = ResultStatus.OK, text: str = "", **more: Any
    ) -> Story:
        thread = more.pop("thread", MAIN)
        self._add(Result(0, None, thread, call_id=call, status=status, text=text, **more))
        return self

    def shell(self, command: str, text: str = "", code: int | None = 0, **more: Any) -> Story:
        thread = more.pop("thread", MAIN)
        call = self.call(
            "Bash", Operation.SHELL, {"command": command}, command=command, thread=thread
        )
        status = more.pop("status", None)
        if status is None:
            status = ResultStatus.FAIL if code else ResultStatus.OK
            status = ResultStatus.NO_RUN if code in (126, 127) else status
        return self.result(call, status, text, exit_code=code, thread=thread, **more)

    def edit(self, path: str, removed: str = "", added: str = "", **more: Any) -> Story:
        """An edit: the lines that it removes and adds, one text each."""
        kind = more.pop("kind", ChangeKind.UPDATE)
        thread = more.pop("thread", MAIN)
        path = path if path.startswith("/") else f"{CWD}/{path}"
        lines = [f"-{line}" for line in removed.splitlines()]
        lines += [f"+{line}" for line in added.splitlines()]
        diff = "\n".join(["@@ -1,1 +1,1 @@", *lines, ""])
        tool = "Write" if kind is ChangeKind.ADD else "Edit"
        operation = Operation.WRITE if kind is ChangeKind.ADD else Operation.EDIT
        call = self.call(
            tool, operation, {"file_path": path, "text": added}, paths=(path,), thread=thread
        )
        status = more.pop("status", ResultStatus.OK)
        changes = (FileChange(path, kind, diff),) if status is ResultStatus.OK else ()
        return self.result(call, status, more.pop("text", ""), changes=changes, thread=thread)

    def read(self, path: str, text: str = "", status: ResultStatus = ResultStatus.OK) -> Story:
        call = self.call("Read", Operation.READ, {"file_path": path}, paths=(path,))
        return self.result(call, status, text)

    def trouble(self, *, final: bool, status: int = 529) -> Story:
        self._add(ApiTrouble(0, None, MAIN, final=final, status=status, text="overloaded"))
        return self

    def end(self, reason: TurnEndReason = TurnEndReason.COMPLETED) -> Story:
        self._add(TurnEnd(0, None, MAIN, reason))
        return self

    def session(self) -> Session:
        calls = sum(isinstance(event, Call) for event in self.events)
        return Session(
            id="ses_01",
            agent="claude-code",
            agent_version="2.1.0",
            native_id="one",
            files=(),
            cwd=CWD,
            repo=CWD,
            branch="main",
            commit=None,
            models=(),
            started_at=START,
            ended_at=self._at,
            state=self.state,
            counts=Counts(calls=calls),
            tokens=None,
            cost_usd=None,
            first_prompt=None,
            final_text=None,
            parent_id=None,
            relation=None,
            unread=Unread(),
            parser_version=1,
        )

    def course(self, later: timedelta = timedelta(minutes=1)) -> Course:
        return course_of(self.session(), self.events, self._at + later)

    def flags(self, name: str | None = None, later: timedelta = timedelta(minutes=1)) -> list[Flag]:
        """The flags that the program's rules put on it, or those of one name."""
        session, now = self.session(), self._at + later
        found = [
            flag for rule in built_in_rules() for flag in rule.check(session, self.events, now)
        ]
        return [flag for flag in found if name in (None, flag.name)]

    def levels(self, name: str) -> list[str]:
        return [flag.level.value for flag in self.flags(name)]
