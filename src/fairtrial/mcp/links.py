"""Addresses of experiments and sessions: as resources of the protocol, and as pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

SCHEME: Final = "fairtrial"
KINDS: Final = {"experiment": "experiments", "session": "sessions"}
"""What has an address, and the name of its pages."""
_ID: Final = re.compile(r"(exp|ses)_[0-9a-zA-Z]{6,40}")
_KIND_OF: Final = {"exp": "experiment", "ses": "session"}
_MOST: Final = 5
_DEEPEST: Final = 4
_FIRST: Final = 20


@dataclass(frozen=True, slots=True)
class Link:
    """An experiment or a session.

    Attributes:
        kind: `experiment` or `session`.
        name: Its id.
    """

    kind: str
    name: str

    @property
    def uri(self) -> str:
        """Its address as a resource."""
        return f"{SCHEME}://{self.kind}/{quote(self.name, safe='')}"

    def page(self, served_at: str) -> str:
        """Return the address of its page.

        Args:
            served_at: Where the pages are, e.g. `http://127.0.0.1:7411`.
        """
        return f"{served_at}/{KINDS[self.kind]}/{quote(self.name, safe='')}"


def links_in(report: Any) -> list[Link]:
    """Return the first few things that a report names by their ids, the outermost first."""
    found: dict[str, Link] = {}
    for text in _texts([report]):
        if _ID.fullmatch(text) and len(found) < _MOST:
            found.setdefault(text, Link(_KIND_OF[text[:3]], text))
    return list(found.values())


def link_of(uri: str) -> Link | None:
    """Return what an address leads to; None when it is no address of ours."""
    parts = urlsplit(uri)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme != SCHEME or parts.netloc not in KINDS or not name:
        return None
    return Link(parts.netloc, name)


def _texts(level: list[Any], depth: int = 0) -> Iterator[str]:
    yield from (one for one in level if isinstance(one, str))
    below: list[Any] = []
    for one in level:
        if isinstance(one, dict):
            below += one.values()
        elif isinstance(one, list | tuple):
            below += one[:_FIRST]
    if below and depth < _DEEPEST:
        yield from _texts(below, depth + 1)
