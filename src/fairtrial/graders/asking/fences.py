"""What others wrote, between fences that it cannot close."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from fairtrial.graders.wording import text_of
from fairtrial.model.json import Json

_TOKEN_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Fenced:
    """Texts between fences.

    Attributes:
        text: Each part between a line `<<NAME TOKEN>>` and a line `<<end NAME TOKEN>>`.
        token: The word that the fences bear.
    """

    text: str
    token: str


def fenced(parts: Sequence[tuple[str, Json]]) -> Fenced:
    """Put values between fences.

    The token is a hash of all that stands between the fences, and it stands in none of the texts,
    so none of them can hold a fence. To write a text that holds its own token would take 2^64
    tries, and would only have another one taken. The same texts have the same token, so that a
    kept answer to them is found again.

    Args:
        parts: Name and value of each; names are the caller's own words.

    Raises:
        GraderError: a value has no text.
    """
    texts = [(name, readable(value)) for name, value in parts]
    token = _unused_token(texts)
    shown = [f"<<{name} {token}>>\n{text}\n<<end {name} {token}>>" for name, text in texts]
    return Fenced("\n\n".join(shown), token)


def readable(value: Json) -> str:
    """Return a value as a judge reads it: text as it is, anything else as indented JSON.

    Raises:
        GraderError: it has no text.
    """
    if isinstance(value, str | None):
        return text_of(value) or "(empty)"
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except (RecursionError, TypeError, ValueError):
        return text_of(value)


def _unused_token(texts: Sequence[tuple[str, str]]) -> str:
    ground = hashlib.sha256()
    for text in (text for part in texts for text in part):
        data = text.encode("utf-8", "surrogatepass")
        ground.update(len(data).to_bytes(8, "big") + data)
    while True:
        token = ground.hexdigest()[:_TOKEN_DIGITS]
        if not any(token in text for _, text in texts):
            return token
        ground.update(b"again")
