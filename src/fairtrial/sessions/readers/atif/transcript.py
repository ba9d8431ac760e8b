"""Reading one trajectory, step by step."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from fairtrial.model.session import (
    MAIN,
    Call,
    Prompt,
    Relation,
    Said,
    SessionEvent,
    Source,
    Thought,
    TranscriptFacts,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.task import Tokens
from fairtrial.ports.sessions import Clean
from fairtrial.sessions.account import Account, clipped, moment, text_of
from fairtrial.sessions.amounts import amount, count
from fairtrial.sessions.line_transcript import LineTranscript
from fairtrial.sessions.readers.atif.reader import AGENT
from fairtrial.sessions.readers.atif.records import RECORDS, Record, Step, Trajectory
from fairtrial.sessions.readers.atif.tools import Pending, call_of, result_of


class State(msgspec.Struct):
    """What reading goes on with.

    Attributes:
        account: What is known so far.
        agent: Who acted.
        model: The model of steps that name none.
        steps: How many steps there were, copied ones too.
        pending: Calls whose results are awaited, oldest first.
    """

    account: Account = msgspec.field(default_factory=lambda: Account(derived=True))
    agent: str = AGENT
    model: str | None = None
    steps: int = 0
    pending: dict[str, Pending] = msgspec.field(default_factory=dict)


_STATE: Final = msgspec.msgpack.Decoder(State)
_AGENTS: Final = {"gemini-cli": "gemini", "pi-coding-agent": "pi", "claude": "claude-code"}
_CONTINUED: Final = re.compile(r"\A(.+)-cont-\d+\Z")
_HELPED: Final = re.compile(r"\A(.+)-summarization-\d+-\w+\Z")
_PART: Final = re.compile(r"\Atrajectory\.(.+)\Z")
_FILLER: Final = re.compile(r"\AExecuted \S+ \S+\Z")
_FINISHES: Final = frozenset({"mark_task_complete", "finish", "submit", "task_complete"})
_MOST_PENDING: Final = 1_000


class AtifTranscript(LineTranscript[State]):
    """One trajectory. See `Transcript`."""

    agent = AGENT

    def __init__(self, path: Path, clean: Clean, state: bytes | None = None) -> None:
        super().__init__(clean, State() if state is None else _STATE.decode(state))
        self._path = path

    def facts(self) -> TranscriptFacts:
        """See `Transcript.facts`; the agent is the one that acted."""
        return self._account.facts(self._state.agent)

    def _read(self, line: bytes) -> list[SessionEvent] | None:
        record = RECORDS.of(line)
        if record is None:
            return None
        if record.trajectory is not None:
            return list(self._trajectory(record, record.trajectory))
        if record.step is not None:
            return list(self._step(record.step, record.thread or MAIN))
        return None

    def _trajectory(self, record: Record, told: Trajectory) -> Iterator[SessionEvent]:
        agent = _object(told.agent)
        self._state.model = _text(agent.get("model_name")) or self._state.model
        if record.thread is None:
            self._itself(told, agent)
        if not record.metered:
            yield from self._total(told, record.thread or MAIN)

    def _itself(self, told: Trajectory, agent: Mapping[str, Any]) -> None:
        account, name = self._account, _text(agent.get("name"))
        self._state.agent = _AGENTS.get(name or "", name) or AGENT
        account.agent_version = _text(agent.get("version"))
        account.native_id = told.session_id or told.trajectory_id or _named(self._path)
        part = _PART.match(self._path.stem)
        if part and not account.native_id.endswith(f"-{part[1]}"):
            account.native_id += f"-{part[1]}"
        for pattern, relation in (
            (_CONTINUED, Relation.RESUME),
            (_HELPED, Relation.SUBAGENT),
        ):
            if found := pattern.match(account.native_id):
                account.parent, account.relation = found[1], relation
        extra = {**_object(told.extra), **_object(agent.get("extra"))}
        account.cwd = _first(extra.get("cwd", extra.get("cwds")))
        account.branch = _first(extra.get("git_branch", extra.get("git_branches")))

    def _total(self, told: Trajectory, thread: str) -> Iterator[Usage]:
        """Yield what all took, where no step tells its part; later parts tell of earlier ones."""
        metrics = _object(told.final_metrics)
        if self._account.relation is Relation.RESUME:
            return
        parts = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
        tokens = _tokens(*(metrics.get(name) for name in parts))
        if tokens != Tokens():
            name = f"{self._state.agent} {self._account.native_id} {thread} total"
            cost = amount(metrics.get("total_cost_usd"))
            yield Usage(0, None, thread, name, self._state.model, tokens, cost)

    def _step(self, step: Step, thread: str) -> Iterator[SessionEvent]:
        self._state.steps += 1
        if step.is_copied_context:
            return  # it is in the trajectory that this one goes on with
        at = moment(step.timestamp)
        self._account.seen_at(at)
        self._account.cwd = self._account.cwd or _first(_object(step.extra).get("cwd"))
        if step.source == "agent":
            yield from self._acted(step, at, thread)
        elif step.source == "user":
            text = text_of(step.message)
            source = Source.SDK if thread == MAIN else Source.AGENT
            if text.strip():
                yield Prompt(0, at, thread, clipped(text), source)
        elif step.source != "system":
            self._account.unknown_record(f"step of {step.source}")
        yield from self._observed(step, at, thread)

    def _acted(self, step: Step, at: datetime | None, thread: str) -> Iterator[SessionEvent]:
        metrics = _object(step.metrics)
        parts = ("prompt_tokens", "completion_tokens", "cached_tokens")
        tokens = _tokens(*(metrics.get(name) for name in parts))
        if tokens != Tokens() and step.llm_call_count != 0:
            name = f"{self._state.agent} {self._account.native_id} {thread} {self._state.steps}"
            model, cost = step.model_name or self._state.model, amount(metrics.get("cost_usd"))
            yield Usage(0, at, thread, name, model, tokens, cost)
        if step.reasoning_content:
            yield Thought(0, at, thread, clipped(step.reasoning_content))
        text = text_of(step.message)
        if text.strip() and not _FILLER.match(text):
            yield Said(0, at, thread, clipped(text))
        for place, told in enumerate(_objects(step.tool_calls)):
            call, pending = call_of(told, f"{thread} {self._state.steps}.{place}", at, thread)
            if len(self._state.pending) < _MOST_PENDING:
                self._state.pending[call.id] = pending
            yield call
            yield from _finished(call)

    def _observed(self, step: Step, at: datetime | None, thread: str) -> Iterator[SessionEvent]:
        results = _objects(_object(step.observation).get("results"))
        for told in results:
            call_id = _text(told.get("source_call_id"))
            if call_id is None:  # of all calls of the step together: a terminal has one screen
                call_id = next(reversed(self._state.pending), None)
            pending = self._state.pending.pop(call_id, None) if call_id is not None else None
            if call_id is not None and pending is not None:
                extra = _object(step.extra) if len(results) == 1 else {}
                yield result_of(told, extra, call_id, pending, at, thread)


def _finished(call: Call) -> Iterator[SessionEvent]:
    if call.tool in _FINISHES:
        yield TurnEnd(0, call.at, call.thread, TurnEndReason.COMPLETED)


def _tokens(prompt: Any, completion: Any, cached: Any) -> Tokens:
    read, kept = count(prompt), count(cached)
    # There, the prompt is all that was read.
    return Tokens(None if read is None else max(0, read - (kept or 0)), count(completion), kept)


def _named(path: Path) -> str:
    """Return an id for a trajectory that has none: always the same for one file."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _first(value: Any) -> str | None:
    found = value[0] if isinstance(value, list) and value else value
    return _text(found) or None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(values: Any) -> list[Mapping[str, Any]]:
    found = values if isinstance(values, list) else []
    return [value for value in found if isinstance(value, Mapping)]
