"""Codex's block: the user's own instructions, then those of the repository, as one text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from fairtrial.model.harness import LoadedText

_BLOCK: Final = re.compile(
    r"\A# AGENTS\.md instructions(?P<where> for [^\n]*)?\n\n<INSTRUCTIONS>\n"
    r"(?P<text>.*)\n</INSTRUCTIONS>(?P<rest>.*)\Z",
    re.DOTALL,
)
_OLD: Final = re.compile(
    r"\A<user_instructions>\n\n(?P<text>.*)\n\n</user_instructions>(?P<rest>.*)\Z", re.DOTALL
)
_PROJECT: Final = "\n\n--- project-doc ---\n\n"
_SKILLS: Final = "## Skills\nA skill is a set of local instructions to follow"
"""Where versions before 0.110 listed skills within the block."""
_BETWEEN: Final = "\n\n"


def block(texts: Sequence[LoadedText], root: str, cwd: str) -> str:
    """See `harness.block.block`."""
    return _written(_BETWEEN.join(text.text for text in texts), _where(root, cwd))


def exchanged(text: str, texts: Sequence[LoadedText], root: str, cwd: str) -> str:
    """See `harness.block.exchanged`."""
    old, found = _OLD.match(text), _BLOCK.match(text)
    told = _BETWEEN.join(one.text for one in texts)
    if old is not None:
        user, _, skills = _parts(old["text"], alone=False)
        whole = _together(user, told, skills)
        rest = old["rest"]
        return f"<user_instructions>\n\n{whole}\n\n</user_instructions>{rest}" if whole else rest
    if found is None:
        return text
    user, _, skills = _parts(found["text"], alone=found["where"] is None)
    whole = _together(user, told, skills)
    where = (found["where"] or _where(root, cwd)) if told or skills else ""
    return (_written(whole, where) if whole else "") + found["rest"]


def recorded(text: str, _root: str) -> tuple[LoadedText, ...]:
    """See `harness.block.recorded`."""
    old, found = _OLD.match(text), _BLOCK.match(text)
    match = found or old
    if match is None:
        return ()
    alone = found is not None and found["where"] is None
    _, told, _ = _parts(match["text"], alone=alone)
    return (LoadedText("", told),) if told else ()


def _parts(text: str, *, alone: bool) -> tuple[str, str, str]:
    """Return the user's text, the repository's, and the listed skills.

    Args:
        text: What stands in the block.
        alone: Whether it has none of a repository, which its head says.
    """
    at = text.find(_SKILLS)
    text, skills = (text, "") if at < 0 else (text[:at].removesuffix(_BETWEEN), text[at:])
    if alone:
        return text, "", skills
    user, between, told = text.partition(_PROJECT)
    return (user, told, skills) if between else ("", text, skills)


def _together(user: str, told: str, skills: str) -> str:
    own = f"{user}{_PROJECT if user and told else ''}{told}"
    return _BETWEEN.join(part for part in (own, skills) if part)


def _written(text: str, where: str) -> str:
    return f"# AGENTS.md instructions{where}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"


def _where(root: str, cwd: str) -> str:
    return f" for {posixpath.normpath(posixpath.join(root, cwd))}"
