"""Experiments and sessions as resources: all of a report, where a tool's answer is cut."""

from __future__ import annotations

import json
from typing import Any, Final

from fairtrial.app.bench import Bench
from fairtrial.mcp.cutting import cut
from fairtrial.mcp.links import Link, link_of
from fairtrial.mcp.marking import fenced, shown_texts
from fairtrial.mcp.offered import find_tool
from fairtrial.model.errors import DefectError, NotFoundError
from fairtrial.schema.decoding import decode

TEMPLATES: Final = {
    "experiment": "fairtrial://experiment/{id}",
    "session": "fairtrial://session/{id}",
}
_READ_BY: Final = {
    "experiment": ("exp_show", "experiment"),
    "session": ("sessions_show", "session"),
}
_LARGEST: Final = 400_000
_LISTED: Final = 20


def read(bench: Bench, uri: str) -> str:
    """Return what an address leads to, as marked JSON.

    Raises:
        NotFoundError: there is no such thing.
    """
    link = link_of(uri)
    if link is None:
        known = ", ".join(TEMPLATES.values())
        raise NotFoundError("there is no such resource", where=uri[:200], fix=f"known: {known}")
    name, option = _READ_BY[link.kind]
    found = cut(_report(bench, name, {option: link.name}), _LARGEST, shown_texts())
    text = fenced(json.dumps(found.value, ensure_ascii=False, indent=1))
    return text + (f"\nCut: {'; '.join(found.places)}." if found.places else "")


def newest(bench: Bench) -> list[tuple[Link, str]]:
    """Return the newest experiments and sessions, each with its name."""
    shown = shown_texts()
    found = []
    for name, kind, called in (
        ("exp_list", "experiment", "name"),
        ("sessions_list", "session", "title"),
    ):
        for document in _entries(_report(bench, name, {"limit": _LISTED})):
            link = Link(kind, document["id"])
            found.append((link, shown(str(document.get(called) or link.name)[:100])))
    return found


def _report(bench: Bench, name: str, arguments: dict[str, Any]) -> Any:
    tool = find_tool(name)
    if tool is None:
        raise DefectError(f"there is no tool {name}")
    verb = tool.verb
    return verb.function()(bench, decode(verb.request(), arguments, "resource")).json()


def _entries(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects of a list's report."""
    lists = [one for one in document.values() if isinstance(one, list)]
    return [one for one in (lists[0] if lists else []) if isinstance(one, dict) and "id" in one]
