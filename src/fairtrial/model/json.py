"""JSON values and their canonical form, the ground of every content hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, a list, or a dict with str keys."""


def canonical_json(value: Json) -> bytes:
    """Return the one UTF-8 text of a JSON value: sorted keys, no spaces, no NaN.

    Raises:
        ValueError: the value holds NaN or an infinity.
        TypeError: the value is no JSON value.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8", "surrogatepass")


def content_hash(value: Json) -> str:
    """Return the SHA-256 of a value's canonical JSON, in hexadecimal (64 characters)."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
