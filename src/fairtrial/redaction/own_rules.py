"""Kinds of secrets that a user adds, and those that only sessions hold."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairtrial.model.errors import UsageError
from fairtrial.redaction.secrets import RULES, Rule

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_SHORTEST_MARK = 3
_FORM = 'write a list: [{"name": "mine", "contains": "mine_", "pattern": "mine_[a-z0-9]{20,}"}]'
_LARGEST_PATTERN = 8 * 1024 * 1024
"""Bytes that a compiled pattern may take."""
_ENVIRONMENT = Rule(
    "email",
    (b"EMAIL=",),
    # What `env` prints in a shell; addresses elsewhere, such as authors of commits, stay.
    re.compile(
        rb"(?P<kept>[A-Z0-9_]{0,60}EMAIL=[\\\"']{0,2})[^\s@\"'\\=]{1,64}@[A-Za-z0-9.\-]{1,255}"
    ),
)

_SECRET_NAMES = (
    b"PASSWORD=",
    b"PASSWD=",
    b"SECRET=",
    b"SECRET_KEY=",
    b"TOKEN=",
    b"API_KEY=",
    b"APIKEY=",
    b"ACCESS_KEY=",
    b"PRIVATE_KEY=",
    b"CREDENTIALS=",
)
_VARIABLE = Rule(
    "variable",
    _SECRET_NAMES,
    # Something with a digit in it that is no call, no reference and no placeholder.
    re.compile(
        rb"(?P<kept>(?:" + b"|".join(_SECRET_NAMES) + rb")[\\\"']{0,2})"
        rb"(?=[^\s\"'\\0-9]{0,200}[0-9])[A-Za-z0-9+/=_.\-!@#%^&]{8,512}+(?![(\[])"
    ),
)

SESSION_RULES = (*RULES, _ENVIRONMENT, _VARIABLE)
"""What is taken out of sessions."""


def own_rules(path: Path) -> Sequence[Rule]:
    """Return the rules of a user's file; none when there is no such file.

    It holds a list of objects: `name`, `contains` (a text, or several, of which one is in every
    such secret) and `pattern` (a regular expression; what its group `kept` matches stays).

    Raises:
        UsageError: the file cannot be read, or a rule in it does not fit.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the rules of secrets cannot be read: {error}", where=str(path)) from None
    try:
        found = json.loads(text)
    except ValueError as error:
        what = f"the rules of secrets are no JSON: {error}"
        raise UsageError(what, where=str(path), fix=_FORM) from None
    if not isinstance(found, list):
        raise UsageError("the rules of secrets are no list", where=str(path), fix=_FORM)
    return [_rule(given, f"{path}[{place}]") for place, given in enumerate(found)]


def _rule(given: Any, where: str) -> Rule:
    if not isinstance(given, dict) or set(given) != {"name", "contains", "pattern"}:
        raise UsageError("a rule has the keys name, contains and pattern", where=where)
    name, marks, pattern = given["name"], given["contains"], given["pattern"]
    marks = [marks] if isinstance(marks, str) else marks
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError("'name' must be small letters, digits and dashes", where=where)
    if not isinstance(marks, list) or not marks or not all(_is_mark(mark) for mark in marks):
        raise UsageError(
            f"'contains' must be a text of {_SHORTEST_MARK} characters or more, or a list of such",
            where=where,
        )
    compiled = _compiled(str(pattern), where)
    if compiled.match(b""):
        raise UsageError("'pattern' fits an empty text, so it would be everywhere", where=where)
    return Rule(name, tuple(mark.encode() for mark in marks), compiled)


def _compiled(pattern: str, where: str) -> re.Pattern[bytes]:
    """Return a user's pattern for an engine whose time grows with the text and no faster.

    Raises:
        UsageError: it is no regular expression, or one that such an engine does not know.
    """
    # Only those who have rules of their own need it.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = _LARGEST_PATTERN
    try:
        found: re.Pattern[bytes] = re2.compile(pattern.encode(), options)
    except re2.error as error:
        told = error.args[0] if error.args else error
        said = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise UsageError(
            f"'pattern' is no regular expression of RE2: {said}",
            where=where,
            fix="RE2 has no look-around and no back references; see https://github.com/google/re2/wiki/Syntax",
        ) from None
    return found


def _is_mark(mark: Any) -> bool:
    return isinstance(mark, str) and len(mark) >= _SHORTEST_MARK
