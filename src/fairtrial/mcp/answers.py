"""From a verb's report, or its error, to what a tool answers: short text, and the facts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.mcp.cutting import cut
from fairtrial.mcp.links import Link, links_in
from fairtrial.mcp.marking import NOTICE, fenced, shown_texts
from fairtrial.model.errors import ExitCode, FairtrialError

_STRUCTURED: Final = 24_000
_TEXT: Final = 5_000
"""Characters. A client may show an agent either of them, or both."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers.

    Attributes:
        text: For an agent to read.
        facts: The same, structured, with more of it.
        links: What the rest is read by.
        failed: Whether it did not do what it was called for.
    """

    text: str
    facts: dict[str, Any]
    links: tuple[Link, ...] = ()
    failed: bool = False


def answered(report: Any, command: str | None, served_at: str | None) -> Answer:
    """Return the answer that a report makes.

    Args:
        report: A verb's report.
        command: The command line that shows all of it; None when that would do it again.
        served_at: Where pages are served; None when they are not.
    """
    shown = shown_texts()
    document = report.json()
    whole = cut(document, _STRUCTURED, shown)
    short = cut(document, _TEXT, shown)
    links = links_in(document)
    code = ExitCode(report.exit_code)
    rest = command or (f"read {links[0].uri}" if links else "not kept: call with less")
    facts: dict[str, Any] = {
        "notice": NOTICE,
        "exit_code": int(code),
        "exit": code.name.lower(),
        "report": whole.value,
    }
    if whole.places:
        facts |= {"cut": list(whole.places), "rest": rest}
    lines = [f"Exit code {int(code)} ({code.name.lower()})."]
    for link in links:
        page = "" if served_at is None else f", {link.page(served_at)}"
        lines.append(f"{link.kind} {link.name}: {link.uri}{page}")
    if links:
        facts["links"] = [_link(link, served_at) for link in links]
    lines.append(fenced(json.dumps(short.value, ensure_ascii=False, separators=(",", ":"))))
    if short.places:
        lines += [f"Cut: {'; '.join(short.places)}.", f"All of it: {rest}"]
    return Answer("\n".join(lines), facts, tuple(links))


def failed(error: FairtrialError) -> Answer:
    """Return the answer that an error makes: what, where, why, what to do next."""
    shown = shown_texts()
    told = {"what": error.what, "where": error.where, "why": error.why, "fix": error.fix}
    said = {name: None if text is None else shown(text[:2_000]) for name, text in told.items()}
    lines = [f"{name}: {text}" for name, text in said.items() if text]
    facts = {
        "schema": "fairtrial.error/1",
        "error": said,
        "exit_code": int(error.exit_code),
    }
    return Answer("\n".join(lines), facts, failed=True)


def _link(link: Link, served_at: str | None) -> dict[str, str]:
    page = {} if served_at is None else {"page": link.page(served_at)}
    return {"kind": link.kind, "id": link.name, "resource": link.uri, **page}
