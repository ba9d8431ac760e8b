"""`proxy` as text: lines that are printed as things happen."""

from __future__ import annotations

from fairtrial.app.reports.proxy import ProxyReport
from fairtrial.cli.harmless import harmless
from fairtrial.cli.render.calls import outcome, place, subject, tokens_in_words
from fairtrial.cli.render.words import counted, duration, money
from fairtrial.model.events import ProxyStarted, RequestRefused
from fairtrial.model.recorded_call import RecordedCall


def started_lines(event: ProxyStarted, commanded: bool) -> str:  # noqa: FBT001  # one of two wordings
    """Return how to use a proxy that listens; a command that it runs needs no such word."""
    onward = f"Calls go on to {event.anthropic} and {event.openai}."
    lines = [f"Recording model calls on {event.url} (session {event.session})."]
    if not commanded:
        openai = event.variables["OPENAI_BASE_URL"]
        lines += [
            onward,
            "",
            "In the shell of the program to record:",
            *(f"  export {name}={value}" for name, value in event.variables.items()),
            "Codex does not read OPENAI_BASE_URL; give it the address itself:",
            f"  codex -c openai_base_url={openai}",
            "",
        ]
    if event.exposed:
        lines.append(
            "Warning: other machines can reach this address. Whoever does can use the proxy, and "
            "what passes is not encrypted."
        )
    if not commanded:
        lines.append("Ctrl-C ends it once the calls in flight are done.")
    return "".join(f"{harmless(line)}\n" for line in lines)


def call_line(call: RecordedCall) -> str:
    """Return one line about a call."""
    first = "" if call.first_byte_s is None else f" (first {duration(call.first_byte_s)})"
    parts = [
        f"{call.started_at.astimezone():%H:%M:%S}",
        subject(call),
        outcome(call),
        *([tokens_in_words(call.tokens)] if call.tokens is not None else []),
        *([money(call.cost_usd)] if call.cost_usd is not None else []),
        duration(call.duration_s) + first,
        place(call),
    ]
    return harmless("  ".join(parts)) + "\n"


def refused_line(event: RequestRefused) -> str:
    """Return one line about a request that was not passed on."""
    return harmless(f"refused ({event.status}) {event.path}  {event.reason}") + "\n"


def ended_lines(report: ProxyReport) -> str:
    """Return what went through, and how to read it."""
    said = [f"{counted(report.calls, 'call')} recorded"]
    if report.failed:
        said.append(f"{report.failed:,} without a good answer")
    if report.output_tokens:
        said.append(f"{report.input_tokens:,} tokens in, {report.output_tokens:,} out")
    if report.cost_usd is not None:
        some = "" if report.n_costed == report.calls else f" for {report.n_costed:,} of them"
        said.append(money(report.cost_usd) + some)
    lines = [", ".join(said)]
    if report.calls:
        lines.append("Read them: fairtrial calls list")
    if report.lost:
        lines.append(f"{counted(report.lost, 'call')} could not be stored.")
    return "".join(f"{harmless(line)}\n" for line in lines)
