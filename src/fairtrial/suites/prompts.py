"""First prompts of sessions: whether an agent that is told nothing else can work by one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from typing import Final

from fairtrial.model.session import Relation, Session
from fairtrial.sessions.account import is_clipped

_COMMAND: Final = re.compile(r"/[A-Za-z][\w:-]*(\s|$)")
_IMAGE: Final = re.compile(r"\[(image|file|pdf|document)\b[^\]\n]*\]|<image[^>\n]*>", re.IGNORECASE)
_GOES_ON: Final = frozenset(
    {"yes", "y", "yep", "yeah", "ja", "ok", "okay", "sure", "go", "on", "going", "keep", "continue"}
    | {"proceed", "please", "retry", "try", "again", "do", "it", "next", "same", "more", "the"}
    | {"now", "ahead", "thanks", "thank", "you", "weiter", "no", "stop"}
)
"""Words of which a prompt that only goes on consists."""
_CONTINUED: Final = "This session is being continued from a previous conversation"
_NO_END: Final = frozenset(
    {"a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "it", "its", "of", "on"}
    | {"or", "so", "that", "the", "this", "to", "when", "which", "with"}
)
"""Words that a name does not end with."""
_FEWEST: Final = 4
_MOST_WORDS: Final = 7
_LONGEST: Final = 48


def why_unusable(session: Session) -> str | None:
    """Return why the first prompt of a session is no instruction; None when it is one."""
    if session.relation is Relation.SUBAGENT:
        return f"it is a subagent's: another agent wrote its prompt ({session.parent_id})"
    if session.relation is not None:
        return f"it goes on from another session ({session.parent_id}): its prompt is not the first"
    return _why_no_text((session.first_prompt or "").strip())


def _why_no_text(prompt: str) -> str | None:
    if not prompt:
        return "it has no prompt of a person or a program"
    if is_clipped(prompt):
        return "its first prompt is too long: the middle of it is not kept"
    if prompt.startswith(_CONTINUED):
        return "its first prompt is a summary of another session"
    if _COMMAND.match(prompt):
        return f"its first prompt is a slash command: {prompt.split(maxsplit=1)[0][:40]}"
    return _why_too_little(prompt)


def _why_too_little(prompt: str) -> str | None:
    left = _IMAGE.sub(" ", prompt)
    if not left.strip():
        return "its first prompt is images or files alone, which are not kept"
    words = re.findall(r"\w+", left.casefold())
    if all(word in _GOES_ON for word in words) or sum(map(len, words)) < _FEWEST:
        return f"its first prompt says too little: {' '.join(prompt.split())[:40]!r}"
    return None


def task_name(prompt: str, session_id: str, taken: Container[str]) -> str:
    """Return a readable name for the task of a prompt, which no other task has.

    Args:
        prompt: The prompt.
        session_id: Names the task of a prompt without a letter that names may have.
        taken: The names of other tasks, in lower case.
    """
    plain = unicodedata.normalize("NFKD", prompt).encode("ascii", "ignore").decode().casefold()
    kept: list[str] = []
    for word in re.findall(r"[a-z0-9]+", plain)[:_MOST_WORDS]:
        if len("-".join((*kept, word))) > _LONGEST:
            break
        kept.append(word)
    while len(kept) > 1 and kept[-1] in _NO_END:
        kept.pop()
    name = "-".join(kept) or session_id.replace("_", "-")[:12].lower()
    number = 1
    found = name
    while found in taken:
        number += 1
        found = f"{name}-{number}"
    return found
