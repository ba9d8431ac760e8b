"""Lines of a harness that no edit may delete, reword or relax unless somebody allows it."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fairtrial.harness.protection_list import Pattern
from fairtrial.harness.relaxing import relaxed, words_of
from fairtrial.harness.sentences import Sentence, sentences
from fairtrial.model.errors import RefusedError, UsageError
from fairtrial.model.harness import Harness
from fairtrial.model.wording import excerpt

OPTION: Final = "--allow-protected-edit"
_MARK: Final = re.compile(
    r"(?:<!--|#|//)\s*fairtrial:\s*protected(-begin|-end)?(?!-?\w)\s*(?:-->)?"
)
_SPACE: Final = re.compile(r"\s+")
_ALLOWED: Final = re.compile(r"(.+):(\d+)")
_EXCEPTION: Final = re.compile(
    r"(?:unless|except|exceptions?|however|but|other than|apart from|this does not apply)\b",
    re.IGNORECASE,
)
_PROSE: Final = (".md", ".mdc", ".markdown", ".txt")
_SAME_FILE: Final = 0.5
_SAME_SENTENCE: Final = 50.0
_NAMED: Final = 20


class Kind(StrEnum):
    """What was done to a protected sentence."""

    DELETED = "deleted"
    REWORDED = "reworded"
    """Also made stricter: whoever protected it decides."""
    RELAXED = "relaxed"


@dataclass(frozen=True, slots=True)
class ProtectedLine:
    """A line that is protected.

    Attributes:
        path: Its file.
        line: Its number, from 1.
        text: The line without its mark.
        by: What protects it: `a mark`, or the pattern.
    """

    path: str
    line: int
    text: str
    by: str


@dataclass(frozen=True, slots=True)
class Violation:
    """A protected line that an edit touches.

    Attributes:
        path: Its file in A.
        line: Its number in A, from 1.
        old: The sentence as it was.
        new: The one in its place; None when there is none.
        kind: What was done.
        rule: The rule by which it was relaxed.
        how: What was done to it, in a few words.
    """

    path: str
    line: int
    old: str
    new: str | None
    kind: Kind
    rule: str | None = None
    how: str = ""

    @property
    def place(self) -> str:
        """What allows it, as `PATH:LINE`."""
        return f"{self.path}:{self.line}"


def protected_lines(
    files: Mapping[str, str], patterns: Sequence[Pattern] = ()
) -> list[ProtectedLine]:
    """Return the protected lines of a harness, in the order of files and lines.

    Args:
        files: Texts by path.
        patterns: What the configuration protects.
    """
    return [line for path, text in files.items() for line in _of_file(path, text, patterns)]


def _of_file(path: str, text: str, patterns: Sequence[Pattern]) -> Iterator[ProtectedLine]:
    within = following = False
    for number, line in enumerate(text.split("\n"), start=1):
        found = _MARK.search(line)
        plain = _MARK.sub("", line).strip()
        what = None if found is None else found[1] or ""
        if what == "-end":
            within = False
        marked = within or following or what == ""
        if plain:
            by = "a mark" if marked else _pattern_for(path, plain, patterns)
            following = False
            if by is not None:
                yield ProtectedLine(path, number, plain, by)
        elif what == "":
            following = True
        within = within or what == "-begin"


def _pattern_for(path: str, line: str, patterns: Sequence[Pattern]) -> str | None:
    return next((one.written for one in patterns if one.takes(path, line)), None)


def violations(
    a: Harness, b: Harness, patterns: Sequence[Pattern] = (), allowed: Sequence[str] = ()
) -> list[Violation]:
    """Return the protected lines of A that B does not hold as they are.

    A line may move within its file, and be wrapped otherwise; its file may be renamed. A mark that
    B takes off is one as well.

    Args:
        a: The harness as it is; its marks count.
        b: The harness that it is to become.
        patterns: What the configuration protects.
        allowed: Lines of A that may be edited, as `PATH:LINE`.

    Raises:
        UsageError: what is allowed is no `PATH:LINE`.
    """
    free = {_allowed(one) for one in allowed}
    found: list[Violation] = []
    for path, text in a.files.items():
        lines = list(_of_file(path, text, patterns))
        if not lines or text == b.files.get(path) or _is_link_in_both(path, a, b):
            continue
        now = b.files.get(_path_in(b, a, path) or "", "")
        found += _Comparison(path, lines, text, now).violations()
    return [one for one in found if (one.path, one.line) not in free]


def _is_link_in_both(path: str, a: Harness, b: Harness) -> bool:
    """Return whether a path is a link to a file that is looked at by its own name."""
    target = a.links.get(path)
    return target is not None and target in a.files and b.links.get(path) == target


def refuse_protected_edits(found: Sequence[Violation]) -> None:
    """Refuse an edit that touches protected lines.

    Raises:
        RefusedError: there is one; the message names what allows each.
    """
    if not found:
        return
    many = len(found) > 1
    told = [_told(one) for one in found[:_NAMED]]
    told += [f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else []
    options = " ".join(f"{OPTION} {shlex.quote(one.place)}" for one in found)
    raise RefusedError(
        f"the edit touches {len(found)} protected line{'s' * many}",
        why="\n       ".join(told),
        fix=f"put {'them' if many else 'it'} back, or allow {'each' if many else 'it'}: {options}",
    )


def _told(one: Violation) -> str:
    how = f" ({one.how})" if one.how else ""
    new = "" if one.new is None or one.new == one.old else f" → {excerpt(one.new)!r}"
    return f"{one.place} is {one.kind}{how}: {excerpt(one.old)!r}{new}"


def _allowed(given: str) -> tuple[str, int]:
    found = _ALLOWED.fullmatch(given.strip())
    if found is None:
        raise UsageError(
            f"{given!r} names no line", where=OPTION, fix="give PATH:LINE, e.g. AGENTS.md:12"
        )
    return found[1].removeprefix("./"), int(found[2])


def _path_in(b: Harness, a: Harness, path: str) -> str | None:
    """Return the path that a file of A has in B; None when it is gone."""
    if path in b.files:
        return path
    own = Counter(sentence.key for sentence in _sentences(path, a.files[path]))
    likeness = {
        other: _share(own, Counter(sentence.key for sentence in _sentences(path, text)))
        for other, text in b.files.items()
        if other not in a.files
    }
    best = max(likeness, key=lambda other: likeness[other], default=None)
    return best if best is not None and likeness[best] >= _SAME_FILE else None


def _share(own: Counter[str], other: Counter[str]) -> float:
    whole = sum(own.values())
    return sum((own & other).values()) / whole if whole else 0.0


def _sentences(path: str, text: str) -> list[Sentence]:
    return sentences(_MARK.sub("", text), wrapped=path.lower().endswith(_PROSE))


class _Comparison:
    """A file with protected lines, and what became of it."""

    def __init__(self, path: str, lines: Sequence[ProtectedLine], old: str, new: str) -> None:
        self._path = path
        self._old = _sentences(path, old)
        self._new = _sentences(path, new)
        self._numbers = {line.line for line in lines}
        self._marked = {line.line for line in lines if line.by == "a mark"}
        numbers = {line.line for line in _of_file(path, new, ())}
        self._marked_now = {one.key for one in self._new if _touches(one, numbers)}
        self._places: dict[str, list[int]] = {}
        for place, sentence in enumerate(self._new):
            self._places.setdefault(sentence.key, []).append(place)
        before = Counter(sentence.key for sentence in self._old)
        self._fresh = [one for one in self._new if one.key not in before]

    def violations(self) -> list[Violation]:
        """Return the protected sentences that are not as they were."""
        found, lost = [], []
        for place, sentence in enumerate(self._old):
            if not _touches(sentence, self._numbers):
                continue
            places = self._places.get(sentence.key)
            if not places:
                lost.append(sentence)
                continue
            now = places.pop(0)
            trouble = self._beside(place, now) or self._unmarked(sentence)
            if trouble is not None:
                rule, how, new = trouble
                found.append(self._violation(sentence, new, Kind.RELAXED, rule, how))
        found += self._lost(lost)
        return sorted(found, key=lambda one: one.line)

    def _beside(self, place: int, now: int) -> tuple[str, str, str] | None:
        """Return the exception that a new sentence after a protected one makes."""
        after = self._new[now + 1] if now + 1 < len(self._new) else None
        if after is None or not _EXCEPTION.match(after.text):
            return None
        was = self._old[place + 1] if place + 1 < len(self._old) else None
        if was is not None and was.key == after.key:
            return None
        return "exception", "an exception follows it", after.text

    def _unmarked(self, sentence: Sentence) -> tuple[str, str, str] | None:
        if not _touches(sentence, self._marked) or sentence.key in self._marked_now:
            return None
        return "mark", "its mark is gone", sentence.text

    def _lost(self, lost: Sequence[Sentence]) -> list[Violation]:
        """Return what became of sentences that are not there as they were, the likest first."""
        likeness = _likeness()
        pairs = sorted(
            (
                (-likeness(old.key, new.key), i, j)
                for i, old in enumerate(lost)
                for j, new in enumerate(self._fresh)
            )
        )
        taken: dict[int, int] = {}
        for score, i, j in pairs:
            if -score < _SAME_SENTENCE:
                break
            if i not in taken and j not in taken.values():
                taken[i] = j
        return [
            self._replaced(old, self._fresh[taken[i]] if i in taken else None)
            for i, old in enumerate(lost)
        ]

    def _replaced(self, old: Sentence, new: Sentence | None) -> Violation:
        if new is None:
            return self._violation(old, None, Kind.DELETED, None, "")
        rule = relaxed(old.text, new.text)
        if rule is not None:
            return self._violation(old, new.text, Kind.RELAXED, *rule)
        same = words_of(old.text) == words_of(new.text)
        how = "its punctuation or case differs" if same else ""
        return self._violation(old, new.text, Kind.REWORDED, None, how)

    def _violation(
        self, old: Sentence, new: str | None, kind: Kind, rule: str | None, how: str
    ) -> Violation:
        line = next(n for n in range(old.first, old.last + 1) if n in self._numbers)
        return Violation(self._path, line, old.text, new, kind, rule, how)


def _touches(sentence: Sentence, numbers: set[int]) -> bool:
    return any(number in numbers for number in range(sentence.first, sentence.last + 1))


def _likeness() -> Callable[[str, str], float]:
    from rapidfuzz import fuzz  # noqa: PLC0415  # only an edit of a protected line needs it

    return fuzz.ratio
