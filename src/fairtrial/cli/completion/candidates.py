"""What may stand at the cursor of a command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from fairtrial.app.verbs import GROUPS, VERBS, Verb, find_verb
from fairtrial.cli.completion.words import Typed
from fairtrial.schema.fields import Option, options_of

_FILTER: Final = "FILTER"
_VOCABULARIES: Final[Mapping[str, str]] = {
    "exp list": "experiments",
    "exp show": "rows",
    "exp export": "rows",
    "calls list": "calls",
}
# What an option or an argument names, by its own name.
_NAMES: Final[Mapping[str, str]] = {
    "experiment": "experiment",
    "candidate": "experiment",
    "baseline": "experiment",
    "resume": "experiment",
    "a": "experiment",
    "b": "experiment",
    "dataset": "dataset",
    "session": "session",
    "sessions": "session",
    "call": "call",
    "mute": "flag",
    "unmute": "flag",
    "suite": "suite",
}
_GLOBAL: Final = {"--json": "Print one JSON object instead of text", "--help": "Show help"}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to go on.

    Attributes:
        text: The whole word.
        doc: What it means.
        done: Whether the word ends with it.
    """

    text: str
    doc: str = ""
    done: bool = True


def candidates(line: Typed, home: Path) -> Sequence[Candidate]:
    """Return what the word at the cursor may be; none where a file is wanted."""
    words = tuple(line.words[1:])
    verb = find_verb(words)
    if verb is None:
        found = _verbs(words)
    else:
        found = _of_verb(verb, words[len(verb.path) :], line.current, home)
    return [one for one in found if one.text.startswith(line.current)]


def _verbs(words: Sequence[str]) -> Iterator[Candidate]:
    if not words:
        yield from (Candidate(name, summary) for name, summary in GROUPS.items())
        yield from (Candidate(v.path[0], v.summary) for v in VERBS if len(v.path) == 1)
        yield from (Candidate("--version", "Print the version"), Candidate("--help", "Show help"))
    elif len(words) == 1 and words[0] in GROUPS:
        yield from (Candidate(v.path[1], v.summary) for v in VERBS if v.path[0] == words[0])


def _of_verb(verb: Verb, words: Sequence[str], current: str, home: Path) -> Iterator[Candidate]:
    if "--" in words:  # what follows is another program's
        return
    options = options_of(verb.request())
    flags = {o.flag: o for o in options if not o.command_line.positional}
    short = {o.command_line.short: o for o in flags.values() if o.command_line.short}
    takers = {name: o for name, o in {**flags, **short}.items() if _takes_value(o)}
    context = _Context(verb, _arguments(words, takers), home)
    flag, sign, value = current.partition("=")
    if sign and flag in takers:
        for one in context.values(takers[flag], value):
            yield Candidate(f"{flag}={one.text}", one.doc, one.done)
    elif words and words[-1] in takers:
        yield from context.values(takers[words[-1]], current)
    elif current.startswith("-"):
        yield from _flags(options)
    else:
        positional = [o for o in options if o.command_line.positional]
        place = min(len(context.arguments), len(positional) - 1)
        if positional and (place == len(context.arguments) or _is_list(positional[place])):
            yield from context.values(positional[place], current)


def _flags(options: Sequence[Option]) -> Iterator[Candidate]:
    for option in options:
        if not option.command_line.positional and not option.command_line.hidden:
            yield Candidate(option.flag, option.doc)
            if option.negative is not None:
                yield Candidate(option.negative, option.doc)
    yield from (Candidate(flag, doc) for flag, doc in _GLOBAL.items())


def _arguments(words: Sequence[str], takers: Mapping[str, Option]) -> Sequence[str]:
    """Return the words that are neither flags nor their values."""
    return [
        word
        for place, word in enumerate(words)
        if not word.startswith("-") and (place == 0 or words[place - 1] not in takers)
    ]


@dataclass(frozen=True, slots=True)
class _Context:
    """What else stands on the line."""

    verb: Verb
    arguments: Sequence[str]
    home: Path

    def values(self, option: Option, current: str) -> Iterator[Candidate]:
        """Yield what an option may be given."""
        if option.command_line.metavar == _FILTER:
            yield from self._filter(current)
            return
        yield from (Candidate(str(choice)) for choice in _choices(option.type))
        if self.verb.name == "prune" and option.name == "what":
            from fairtrial.ports.pruning import Kept  # noqa: PLC0415  # only for this verb

            yield from (Candidate(word) for word in (*Kept, "all"))
        if option.name == "behavior":
            from fairtrial.sessions.decision_points.registry import BEHAVIORS  # noqa: PLC0415

            yield from (Candidate(name) for name in BEHAVIORS)
        kind = _NAMES.get(option.name)
        if kind is not None and not _is_file(option.type):
            from fairtrial.store.names import names  # noqa: PLC0415  # sqlite3, only for names

            yield from (Candidate(name) for name in names(self.home, kind))
            if kind == "experiment" and current.startswith("exp_"):
                yield from (Candidate(name) for name in names(self.home, "experiment id"))

    def _filter(self, current: str) -> Iterator[Candidate]:
        from fairtrial.app.filter_completion import complete_filter  # noqa: PLC0415  # as above

        of = _VOCABULARIES.get(self.verb.name, "sessions")
        scope = self.arguments[0] if self.arguments else None
        for found in complete_filter(self.home, of, current, scope=scope):
            yield Candidate(current[: found.start] + found.text, found.doc, done=False)


def _takes_value(option: Option) -> bool:
    return option.type is not bool and not option.command_line.positional


def _members(kind: Any) -> Iterator[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _members(get_args(kind)[0])
    elif origin is None or origin is Literal:
        yield kind
    else:
        for part in get_args(kind):
            yield from _members(part)


def _choices(kind: Any) -> Sequence[Any]:
    return [c for part in _members(kind) if get_origin(part) is Literal for c in get_args(part)]


def _is_list(option: Option) -> bool:
    return get_origin(option.type) is tuple


def _is_file(kind: Any) -> bool:
    return any(part is Path for part in _members(kind))
