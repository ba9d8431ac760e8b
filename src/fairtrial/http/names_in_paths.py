"""Names in paths: a case may be called `django/123`, which a client writes `django%2F123`."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request
from starlette.types import Scope

_API: Final = "/v2/"
_WITHIN: Final = "\uf02f"
"""Stands for a slash within a name until the route is found. A private character: no name has it;
a path that does is left as it is."""


def with_names_whole(scope: Scope) -> Scope:
    """Return a request whose path is divided at its own slashes, and not at those within names."""
    raw = scope.get("raw_path") or b""
    if not scope["path"].startswith(_API) or b"%2f" not in raw.lower():
        return scope
    parts = [unquote(part) for part in raw.partition(b"?")[0].decode("latin-1").split("/")]
    if any(_WITHIN in part for part in parts):
        return scope
    return {**scope, "path": "/".join(part.replace("/", _WITHIN) for part in parts)}


def quoted(path: str) -> str:
    """Return a path as a client writes it: each name of it quoted, with its own slashes."""
    return "/".join(quote(_whole(word), safe="") for word in path.split("/"))


def names_of(request: Request) -> dict[str, str]:
    """Return the names that stand in a path, by what its route calls them."""
    return {called: _whole(name) for called, name in request.path_params.items()}


def _whole(word: str) -> str:
    return word.replace(_WITHIN, "/")
