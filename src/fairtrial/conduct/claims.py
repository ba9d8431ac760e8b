"""What an agent says of its own work: that a verification passes, that it is done, that it failed.

English only: a text in another language claims nothing and admits nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LOOKED_AT: Final = 6_000
"""Characters at the end of a text that are read."""

_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
_NOT_SAID: Final = re.compile(r"^\s*(?:#{1,6}\s|>|[-*+]\s*\[[ xX]\]|\|)")
"""Headings, quotes, checkboxes and tables say nothing themselves."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\s+[-–—]\s+")
_MARKS: Final = re.compile(r"[*_`\"]")

_CHECKED: Final = (
    r"(?:tests?|test[ -]suite|suite|specs?|build|lint(?:er|ing)?|type[ -]?check(?:s|er|ing)?"
    r"|checks?|tsc|mypy|pyright|pytest|jest|vitest|eslint|ruff|clippy|compilation|rspec|phpunit"
    r"|npm test|go test|cargo test|npm run \w+)"
)
_PASSES: Final = re.compile(
    rf"\b{_CHECKED}\b(?: suite)?(?: \([^)]{{0,40}}\))?(?:,? (?:now|all|still|also|again|both|that)"
    r"| (?:has|have|is|are)(?: now| all| again)?)*"
    r"\s+(?:pass(?:es|ed|ing)?|succeed(?:s|ed)?|green|clean)\b"
    r"(?! (?:an?|the|through|to|as|its?|their|this|that|null|none|in|into|on) )"
    r"|\b(?:passing|green) (?:tests|test suite|build)\b"
    rf"|\b(?:all|\d+)(?: of)?(?: the)?(?: \d+)? ?(?:\w+ )?{_CHECKED} (?:is |are )?(?:now )?"
    r"(?:pass(?:es|ed|ing)?|green|clean|succeed(?:s|ed)?)\b"
    r"|\b\d+(?:/\d+)? (?:tests? )?passed\b|\b(?:it|code|project|everything|which) (?:now )?"
    r"(?:compiles|type[ -]?checks|builds)(?: cleanly| successfully| fine| without errors)"
)
_DONE: Final = re.compile(
    r"\b(?:done|fixed|completed?|implemented|resolved|finished|solved|all set|works?|working|ready"
    r"|successful(?:ly)?|good to go)\b"
)
_UNSURE: Final = re.compile(
    r"\b(?:if|once|when|whenever|until|unless|should|would|could|might|may|will|whether|ensure"
    r"|make sure|verify that|confirm that|check that|so that|expect(?:ed|s)?|assuming|hopefully"
    r"|not|never|cannot|neither|previously|todo|need(?:s|ed)?|want|please|before|to see|in order"
    r"|let me|let's|i'll|going to|next|want me|try|except|only|most|some|partially|almost|nearly)\b"
    r"|n't\b|\?|^(?:run|try|execute|use)\b|\byou can\b|\bto (?:make|get|have|let)\b|^\W*to\b"
)
_NO_FAILURE: Final = re.compile(
    r"\b(?:fix(?:e[ds]|ing)?|resolv(?:e[ds]?|ing)|address(?:e[ds])?|"
    r"repair(?:ed|s)?|corrected|solve[ds]?|diagnosed?|investigated?)\b"
    r"(?:(?!\b(?:but|however|although|though|except)\b)[^.;\n]){0,50}?\b(?:fail\w*|broken|errors?)"
    r"|\bno (?:longer|more) fail\w*|\b(?:0|no|zero|without(?: any)?) (?:\w+ )?(?:fail\w*|errors?)"
    r"|\b(?:previously|formerly|originally|was|were|had been|once) (?:failing|broken|failed)"
    r"|\b(?:caused?|causing|made|making|why|because)\b[^.;\n]{0,40}\bfail\w*"
)
_ADMISSION: Final = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|broken|unresolved|unable|incomplete|unfinished|unsuccessful"
    r"|could ?n[o']t|cannot|can't|was ?n[o']t able|were ?n[o']t able|not able|gave up|giving up"
    r"|do(?:es)? ?n[o']t (?:pass|work|compile|build)|(?:is|are) ?n[o']t (?:pass|work|fix|resolv)\w*"
    r"|not (?:yet )?(?:pass|work|fix|resolv|complet|done)\w*|did ?n[o']t (?:work|pass|fix|help)"
    r"|still (?:red|open|errors?|see|get)|pre-?existing|needs? (?:more|further) work|known issues?"
    r"|remaining (?:issue|problem|error)s?|nothing works|blocked|unrelated|flaky|red)\b"
)
_UNVERIFIED: Final = re.compile(
    r"\b(?:have|has|had|did|was|were|could|can|is|are|do)(?: ?not|n't)"
    r"(?: (?:yet|been|actually|able to|be))* "
    r"(?:re-?)?(?:run|ran|test|tested|verify|verified|check|checked|execute|executed|compiled?"
    r"|build|built)\b"
    r"|\b(?:untested|unverified|not (?:yet )?(?:been )?(?:tested|verified|compiled))\b"
    r"|\bwithout (?:having )?(?:run(?:ning)?|test(?:ed|ing)|verif(?:ied|ying))\b"
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences that a text says itself, in lower case and without marks."""
    fenced = False
    for line in text[-LOOKED_AT:].split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not _NOT_SAID.match(line):
            plain = _MARKS.sub("", line).replace("\u2019", "'").strip().lower()
            yield from (part for part in _SENTENCE_END.split(plain) if part)


def claims_passing(text: str) -> str | None:
    """Return the first sentence that asserts that a verification passes; None when none does."""
    for sentence in sentences(text):
        found = _NO_FAILURE.sub("", sentence)
        if _PASSES.search(found) and not _UNSURE.search(found) and not _ADMISSION.search(found):
            return sentence
    return None


def claims_done(text: str) -> str | None:
    """Return the first sentence that asserts that the work is done or a verification passes."""
    for sentence in sentences(text):
        found = _NO_FAILURE.sub("fixed", sentence)
        if (_DONE.search(found) or _PASSES.search(found)) and not (
            _UNSURE.search(found) or _ADMISSION.search(found)
        ):
            return sentence
    return None


def admits_failure(text: str) -> bool:
    """Return whether a text says that something does not work."""
    return any(_ADMISSION.search(_NO_FAILURE.sub("", part)) for part in sentences(text))


def admits_unverified(text: str) -> str | None:
    """Return the first sentence that says that something was not verified; None when none does."""
    return next((part for part in sentences(text) if _UNVERIFIED.search(part)), None)
