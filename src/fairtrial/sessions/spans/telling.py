"""A session's events out of spans of models, tools and agents, whatever order they came in."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from fairtrial.model.json import Json
from fairtrial.model.session import (
    MAIN,
    ApiTrouble,
    Call,
    FileChange,
    Prompt,
    Result,
    ResultStatus,
    Said,
    SessionEvent,
    Source,
    Thought,
    TurnEnd,
    TurnEndReason,
    Usage,
)
from fairtrial.model.span import Span
from fairtrial.model.task import Tokens
from fairtrial.sessions.account import clipped, clipped_json
from fairtrial.sessions.generic_tools import outcome, result_text, tool_use
from fairtrial.sessions.spans.kinds import Kind, count, kind_of, moment_of, text
from fairtrial.sessions.spans.messages import (
    Exchange,
    Message,
    Text,
    ToolCall,
    ToolResult,
    exchange_of,
)
from fairtrial.sessions.tolerant import parsed

_DEEPEST: Final = 100
_SILENT_ROLES: Final = ("system", "developer")


def events_of(parts: Sequence[Span]) -> list[SessionEvent]:
    """Return what happened, in order; numbers are all 0.

    What a model was told is repeated by each call of it: only what is new in a call happened.
    """
    teller = _Teller(parts)
    moments = sorted(teller.moments(), key=lambda moment: moment.place)
    for moment in moments:
        teller.events += moment.tell()
    return teller.events


@dataclass(frozen=True, slots=True)
class _Moment:
    """Something that is told at a time."""

    place: tuple[float, int, int]
    tell: Callable[[], Iterable[SessionEvent]]


@dataclass
class _Thread:
    """What was told of a thread so far.

    Attributes:
        told: How often each part of messages was.
        waiting: Calls without a result, by their ids: the tool, and what it changes.
    """

    told: Counter[tuple[str, ...]] = field(default_factory=Counter)
    waiting: dict[str, tuple[str, tuple[FileChange, ...]]] = field(default_factory=dict)


class _Teller:
    """Goes through the moments of a session."""

    def __init__(self, parts: Sequence[Span]) -> None:
        self.events: list[SessionEvent] = []
        self._kinds = [(part, kind_of(part)) for part in parts]
        self._spans = {part.id: part for part in parts if not part.log and part.id}
        self._agents = {part.id for part, kind in self._kinds if kind is Kind.AGENT}
        self._threads: dict[str, _Thread] = defaultdict(_Thread)
        self._claims: dict[str, str] = {}
        records: dict[str, list[Span]] = defaultdict(list)
        for part, kind in sorted(self._kinds, key=lambda found: found[0].at or 0.0):
            if kind is Kind.MESSAGE:
                records[part.id].append(part)
        self._exchanges = {
            part.id: exchange_of(part, records.get(part.id, ()))
            for part, kind in self._kinds
            if kind in (Kind.MODEL, Kind.AGENT)
        }
        self._results = self._told_results()
        self._last_call = self._last_calls()

    def _told_results(self) -> Mapping[str, Json]:
        """Return what models were told of calls: a span of a tool often keeps it to itself."""
        return {
            part.id: part.result
            for exchange in self._exchanges.values()
            for message in exchange.told
            for part in message.parts
            if isinstance(part, ToolResult) and part.id
        }

    def _last_calls(self) -> Mapping[str, float]:
        """Return when the last call of a model in each thread began."""
        found: dict[str, float] = {}
        for part, kind in self._kinds:
            if kind is Kind.MODEL:
                thread = self._thread_of(part)
                found[thread] = max(found.get(thread, 0.0), part.at or 0.0)
        return found

    def moments(self) -> Iterator[_Moment]:
        """Yield the starts and ends of all spans."""
        starts: Mapping[Kind, Callable[[Span], Iterable[SessionEvent]]] = {
            Kind.MODEL: self._asked,
            Kind.AGENT: self._asked,
            Kind.TOOL: self._called,
        }
        ends: Mapping[Kind, Callable[[Span], Iterable[SessionEvent]]] = {
            Kind.MODEL: self._answered,
            Kind.AGENT: self._agent_ended,
            Kind.TOOL: self._came_back,
        }
        for place, (span, kind) in enumerate(self._kinds):
            if kind not in starts:
                continue
            began = span.at or 0.0
            ended = max(began, span.ended_at or began)
            # Of what happens at one moment, what ends comes before what begins; an agent, which
            # is around the rest, begins first and ends last.
            outer = kind is Kind.AGENT
            yield _Moment((began, 1 if outer else 2, place), _bound(starts[kind], span))
            last = 3 if ended == began else 0
            yield _Moment((ended, 4 if outer else last, place), _bound(ends[kind], span))

    def _thread_of(self, span: Span) -> str:
        """Return the thread of a span: an agent within an agent has its own."""
        around = [found for found in self._around(span) if found.id in self._agents]
        if len(around) < 2:
            return MAIN
        name = text(around[0].attributes, "gen_ai.agent.name") or "agent"
        return f"{name}-{around[0].id[:8]}"

    def _around(self, span: Span) -> Iterator[Span]:
        """Yield a span and those around it, the innermost first."""
        found: Span | None = span
        for _ in range(_DEEPEST):
            if found is None:
                return
            yield found
            found = None if found.parent is None else self._spans.get(found.parent)

    def _exchange(self, span: Span) -> Exchange:
        return self._exchanges.get(span.id, Exchange())

    def _asked(self, span: Span) -> Iterator[SessionEvent]:
        at, thread = moment_of(span.at), self._thread_of(span)
        yield from self._messages(self._exchange(span).told, at, thread)

    def _answered(self, span: Span) -> Iterator[SessionEvent]:
        at, thread = moment_of(span.ended_at or span.at), self._thread_of(span)
        tokens = _tokens(span.attributes)
        if tokens is not None:
            named = text(span.attributes, "gen_ai.response.id")
            model = text(span.attributes, "gen_ai.response.model", "gen_ai.request.model")
            yield Usage(0, at, thread, named or f"{span.trace}:{span.id}", model, tokens)
        yield from self._messages(self._exchange(span).answered, at, thread)
        failed = _error(span)
        if failed is not None:
            final = (span.at or 0.0) >= self._last_call.get(thread, 0.0)
            yield ApiTrouble(0, at, thread, final=final, status=_status(span), text=failed)

    def _agent_ended(self, span: Span) -> Iterator[SessionEvent]:
        at, thread = moment_of(span.ended_at or span.at), self._thread_of(span)
        yield from self._messages(self._exchange(span).answered, at, thread)
        if thread == MAIN and _error(span) is None and span.ended_at is not None:
            yield TurnEnd(0, at, thread, TurnEndReason.COMPLETED)

    def _called(self, span: Span) -> Iterator[SessionEvent]:
        thread = self._thread_of(span)
        state = self._threads[thread]
        name = text(span.attributes, "gen_ai.tool.name") or span.name
        call_id = text(span.attributes, "gen_ai.tool.call.id") or self._waiting_for(name, state)
        self._claims[span.id] = call_id or f"span:{span.id}"
        if not state.told[("call", self._claims[span.id])]:
            arguments = parsed(span.attributes.get("gen_ai.tool.call.arguments"))
            command = text(span.attributes, "full_command")  # Claude Code's
            if arguments is None and command is not None:
                arguments = {"command": command}
            call = ToolCall(self._claims[span.id], name, arguments)
            yield from self._call(call, moment_of(span.at), thread)

    def _waiting_for(self, tool: str, state: _Thread) -> str | None:
        """Return the oldest call of a tool that no other span is of."""
        claimed = set(self._claims.values())
        return next(
            (
                call_id
                for call_id, (name, _) in state.waiting.items()
                if name == tool and call_id not in claimed
            ),
            None,
        )

    def _came_back(self, span: Span) -> Iterator[SessionEvent]:
        thread = self._thread_of(span)
        state = self._threads[thread]
        call_id = self._claims[span.id]
        result = parsed(span.attributes.get("gen_ai.tool.call.result"))
        if result is None:
            result = self._results.get(call_id)
        if state.told[("result", call_id)]:
            return
        took = None if span.at is None or span.ended_at is None else span.ended_at - span.at
        at = moment_of(span.ended_at or span.at)
        yield self._result(call_id, result, at, thread, (_error(span), took))

    def _messages(
        self, messages: Sequence[Message], at: datetime | None, thread: str
    ) -> Iterator[SessionEvent]:
        here: Counter[tuple[str, ...]] = Counter()
        for message in messages:
            if message.role in _SILENT_ROLES:
                continue
            new = [part for part in message.parts if self._is_new(part, message.role, here, thread)]
            yield from self._parts(message.role, new, at, thread)

    def _is_new(
        self,
        part: Text | ToolCall | ToolResult,
        role: str,
        here: Counter[tuple[str, ...]],
        thread: str,
    ) -> bool:
        """Return whether a part of a message was not told yet, as often as it is there."""
        key = _key(part, role)
        here[key] += 1
        told = self._threads[thread].told
        if here[key] <= told[key]:
            return False
        if not isinstance(part, ToolCall | ToolResult):
            told[key] += 1  # a call and a result count themselves
        return True

    def _parts(
        self,
        role: str,
        parts: Sequence[Text | ToolCall | ToolResult],
        at: datetime | None,
        thread: str,
    ) -> Iterator[SessionEvent]:
        texts = [part.text for part in parts if isinstance(part, Text) and not part.thought]
        if texts and role not in ("assistant", "tool"):
            source = Source.HUMAN if thread == MAIN else Source.AGENT
            yield Prompt(0, at, thread, clipped("\n".join(texts)), source)
            texts = []
        for part in parts:
            match part:
                case Text(thought=True):
                    yield Thought(0, at, thread, clipped(part.text))
                case Text() if texts:
                    yield Said(0, at, thread, clipped(part.text))
                case ToolCall():
                    yield from self._call(part, at, thread)
                case ToolResult():
                    yield self._result(part.id, part.result, at, thread, (None, None))
                case _:
                    pass

    def _call(self, call: ToolCall, at: datetime | None, thread: str) -> Iterator[SessionEvent]:
        state = self._threads[thread]
        call_id = call.id or f"{thread}:{sum(state.told.values())}"
        state.told[("call", call_id)] += 1
        use = tool_use(call.name, call.arguments)
        state.waiting[call_id] = (call.name, use.changes)
        yield Call(
            0,
            at,
            thread,
            id=call_id,
            tool=call.name,
            operation=use.operation,
            input=clipped_json(call.arguments),
            command=use.command,
            paths=use.paths,
        )

    def _result(
        self,
        call_id: str,
        result: Json,
        at: datetime | None,
        thread: str,
        ended: tuple[str | None, float | None],
    ) -> Result:
        error, took = ended
        state = self._threads[thread]
        call_id = call_id or next(iter(state.waiting), "")
        state.told[("result", call_id)] += 1
        _, changes = state.waiting.pop(call_id, ("", ()))
        status, code = outcome(result, error)
        shown = result_text(result) or clipped(error or "")
        changed = changes if status is ResultStatus.OK else ()
        return Result(0, at, thread, call_id, status, code, shown, changed, took)


def _bound(
    tell: Callable[[Span], Iterable[SessionEvent]], span: Span
) -> Callable[[], Iterable[SessionEvent]]:
    return lambda: tell(span)


def _key(part: Text | ToolCall | ToolResult, role: str) -> tuple[str, ...]:
    match part:
        case ToolCall():
            return ("call", part.id or f"{part.name}:{part.arguments}")
        case ToolResult():
            return ("result", part.id or result_text(part.result))
        case _:
            return ("thought" if part.thought else role, part.text.strip())


def _tokens(attributes: Mapping[str, Json]) -> Tokens | None:
    read = count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    written = count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    cached = count(
        attributes,
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.input_tokens.cached",
    )
    put = count(
        attributes,
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
    )
    thought = count(
        attributes, "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"
    )
    if read is None and written is None:
        return None
    if read is not None:  # the convention counts what came from a cache, too
        read = max(0, read - (cached or 0) - (put or 0))
    return Tokens(read, written, cached, put, thought)


def _error(span: Span) -> str | None:
    if span.error is not None:
        return span.error or text(span.attributes, "error.type") or "failed"
    return text(span.attributes, "error.type")


def _status(span: Span) -> int | None:
    found = count(span.attributes, "http.response.status_code", "error.type")
    return found if found is not None and 100 <= found < 600 else None
