"""`calls show` as text: the conversation as one reads it, or one part as it was recorded."""

from __future__ import annotations

import json

from rich.console import Console

from fairtrial.app.reports.call import CallReport
from fairtrial.cli.render.calls import outcome, place, subject, tokens_in_words
from fairtrial.cli.render.lines import block, line, section
from fairtrial.cli.render.words import duration, money, when
from fairtrial.model.call import Message, ModelReply, ToolUse
from fairtrial.model.json import Json


def render(report: CallReport, console: Console) -> None:
    """Print a call."""
    if report.part is not None:
        _part(report, console)
        return
    _facts(report, console)
    if report.asked is None:
        if report.request is not None:
            section(console, "Request")
            block(console, _text(report.request), "  ")
    else:
        if report.asked.system:
            section(console, "System")
            block(console, report.asked.system, "  ")
        for message in report.asked.messages:
            _message(message, console)
        if report.asked.tools:
            section(console, "Tools offered")
            line(console, "  " + ", ".join(tool.name for tool in report.asked.tools))
    section(console, "Answer")
    if report.reply is not None:
        _reply(report.reply, console)
    else:
        if report.trouble:
            line(console, f"  {report.trouble}", "red")
        if report.response is not None:
            block(console, _text(report.response), "  ")


def _part(report: CallReport, console: Console) -> None:
    if report.part == "request":
        block(console, _text(report.request), "")
    elif report.part == "response" and report.events is None:
        block(console, _text(report.response), "")
    elif report.part == "response":
        block(console, report.body.response.decode("utf-8", "backslashreplace").rstrip("\n"), "")
    elif report.events is None:
        line(console, "The answer did not come as a stream; see --body response.")
    for event in report.events or () if report.part == "events" else ():
        line(console, f"{event.name or 'data'}  {json.dumps(event.data, ensure_ascii=False)}")


def _facts(report: CallReport, console: Console) -> None:
    call = report.call
    line(console, f"{call.id}  {subject(call)}  {outcome(call)}", "bold")
    first = "" if call.first_byte_s is None else f", first byte after {duration(call.first_byte_s)}"
    line(console, f"{when(call.started_at)}, took {duration(call.duration_s)}{first}")
    said = [f"call {place(call)}"]
    if call.agent:
        said.append(f"by {call.agent}")
    if call.owner is not None:
        key = call.owner.key
        said.append(f"in {call.owner.experiment_id}, case {key.case_id}, trial {key.trial}")
    line(console, ", ".join(said))
    if call.tokens is not None:
        cost = "cost unknown" if call.cost_usd is None else money(call.cost_usd)
        cached = call.tokens.cache_read
        kept = f" ({cached:,} from the cache)" if cached else ""
        line(console, f"{tokens_in_words(call.tokens)}{kept}, {cost}")
    line(console, f"{call.method} {call.path} at {call.upstream}", "dim")
    if call.served_from is not None:
        line(console, f"Answered from the recording of {call.served_from}.")


def _message(message: Message, console: Console) -> None:
    section(console, "User" if message.role == "user" else "Assistant")
    if message.text:
        block(console, message.text, "  ")
    _uses(message.tool_uses, console)
    for result in message.tool_results:
        line(
            console,
            f"  {'failed' if result.is_error else 'result'} of {result.tool_use_id}:",
            "dim",
        )
        block(console, result.text)


def _reply(reply: ModelReply, console: Console) -> None:
    if reply.text:
        block(console, reply.text, "  ")
    _uses(reply.tool_uses, console)
    line(console, f"  ended: {reply.stop.value}", "dim")


def _uses(uses: tuple[ToolUse, ...], console: Console) -> None:
    for use in uses:
        line(console, f"  asks for {use.name} ({use.id}):", "dim")
        block(console, _text(use.input))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
