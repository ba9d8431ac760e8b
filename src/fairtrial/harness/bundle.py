"""A harness saved as one file of JSON, and read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from fairtrial.model.errors import UsageError
from fairtrial.model.harness import Harness

SCHEMA: Final = "harness/1"
_KEY: Final = "fairtrial"
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")


def bundle_text(harness: Harness) -> str:
    """Return a harness as the text of a file."""
    content = {
        _KEY: SCHEMA,
        "label": harness.label,
        "digest": harness.digest,
        "files": dict(sorted(harness.files.items())),
        "links": dict(sorted(harness.links.items())),
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def is_bundle(text: str) -> bool:
    """Return whether a text is a saved harness, of whichever version."""
    head = text.lstrip()[:200]
    return head.startswith("{") and f'"{_KEY}"' in head and '"harness/' in head


def read_bundle(text: str, where: str) -> Harness:
    """Return a saved harness.

    Args:
        text: What the file holds.
        where: Its name, for error messages.

    Raises:
        UsageError: it is of another version, or no harness.
    """
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the bundle is no JSON: {error}", where=where) from None
    if not isinstance(given, dict) or given.get(_KEY) != SCHEMA:
        raise UsageError(
            "the bundle is of a version that this fairtrial does not read",
            where=where,
            fix="save it again with fairtrial harness save, or update fairtrial",
        )
    files = _texts(given.get("files"), "files", where)
    links = _texts(given.get("links", {}), "links", where)
    for path in files:
        _check(path, where)
    label = given.get("label")
    harness = Harness(
        files=dict(sorted(files.items())),
        label=label if isinstance(label, str) else "a bundle",
        links={path: target for path, target in links.items() if path in files},
    )
    if given.get("digest", harness.digest) != harness.digest:
        raise UsageError(
            "the texts of the bundle are not those that were saved: its 'digest' is of others",
            where=where,
            fix="save it again with fairtrial harness save; if you changed it on purpose, take "
            "'digest' out",
        )
    return harness


def _texts(given: Any, name: str, where: str) -> Mapping[str, str]:
    fits = isinstance(given, dict) and all(isinstance(text, str) for text in given.values())
    if not fits:
        raise UsageError(f"{name!r} of the bundle must be an object of texts by path", where=where)
    found: dict[str, str] = given
    for path, text in found.items():
        if _NO_TEXT.search(path) or _NO_TEXT.search(text):
            raise UsageError(f"{name!r} of the bundle has what is no text in {path!a}", where=where)
    return found


def _check(path: str, where: str) -> None:
    pure = PurePosixPath(path)
    plain = path == str(pure) and not pure.is_absolute() and ".." not in pure.parts
    gits = any(part.lower() == ".git" for part in pure.parts)
    if not plain or gits or path == ".":
        raise UsageError(f"{path!r} in the bundle is no path in a repository", where=where)
