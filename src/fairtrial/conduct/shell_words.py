"""From the text of a shell command to the simple commands in it.

This reads as much of the shell's grammar as telling programs apart takes, and never fails: what it
does not understand stays part of a word. Only the first characters of a long command are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

LONGEST_COMMAND: Final = 8_000
"""Characters of a command that are read, the bodies of its here-documents not counted."""
_DEEPEST: Final = 3
"""Shells in shells that are looked into."""
_MOST_PARTS: Final = 100

_SIMPLE: Final = re.compile(r"[\w./:@%+,~ -]*+")

_TOKEN: Final = re.compile(
    r"[ \t\r]+|\\\n"
    r"|(?P<comment>(?<![^\s;&|()])\#[^\n]*)"
    r"|(?P<end>\n|&&|\|\||\|&|;;|[;|()]|&(?!>))"
    r"|(?P<here><<<|<<-?)"
    r"|(?P<to>\d*>&\d+|\d*>&-|(?:\d*|&)>>?\|?|<[(]?)"
    r"|(?P<word>(?:[^\s'\"\\|&;()<>$`]++|\\.|'[^']*+'|\"(?:[^\"\\]|\\.)*+\""
    r"|\$\((?:[^()\n]|\([^()\n]*\))*+\)|`[^`\n]*+`|\$)+)"
    r"|(?P<odd>.)",
    re.DOTALL,
)
_HEREDOC: Final = re.compile(r"<<-?[ \t]*(?P<quote>['\"]?)(?P<tag>[A-Za-z_]\w*)(?P=quote)")
_QUOTES: Final = re.compile(r"\\(.)|'([^']*)'|\"((?:[^\"\\]|\\.)*+)\"", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\([\"\\$`\n])")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_KEYWORDS: Final = frozenset(
    {"then", "do", "else", "elif", "if", "while", "until", "{", "}", "!", "time", "fi", "done"}
)
_TESTED: Final = frozenset({"if", "while", "until", "elif", "!"})
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_SEQUENCE: Final = frozenset({";", "\n", "&", ";;"})


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program of a shell command.

    Attributes:
        words: Its name and arguments without quotes, without assignments before them.
        writes: Files that its output is sent to.
        heredoc: The text that is fed to it in a here-document.
        masked: Whether a failure of it need not make the whole command fail: in a pipe, before
            `||` or `;`, as a condition, in the background.
        chained: Whether the whole command can fail for another program's sake, too.
        shows_code: Whether the next thing printed is its exit code: `; echo $?`.
        piped: Whether another program reads its output.
    """

    words: tuple[str, ...]
    writes: tuple[str, ...] = ()
    heredoc: str = ""
    masked: bool = False
    chained: bool = False
    shows_code: bool = False
    piped: bool = False

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2]


@dataclass(slots=True)
class _Part:
    """What is gathered of one simple command, and the operator after it."""

    words: list[str]
    writes: list[str]
    heredoc: str = ""
    after: str = ""
    tested: bool = False


def simple_commands(text: str) -> tuple[SimpleCommand, ...]:
    """Return the programs that a shell command runs, in order; those of `bash -c` included."""
    if _SIMPLE.fullmatch(text):
        words = tuple(text.split())
        if words and words[0] not in _KEYWORDS and words[0].rpartition("/")[2] not in _SHELLS:
            return (SimpleCommand(words),)
    return tuple(_commands(text, 0))


def _commands(text: str, depth: int) -> Iterator[SimpleCommand]:
    parts = _parts(text)
    pipefail = any(
        part.words[:1] == ["set"] and any("pipefail" in w for w in part.words) for part in parts
    )
    strict = any(part.words[:1] == ["set"] and _is_errexit(part.words) for part in parts)
    telling = sum(part.words[:1] not in (["cd"], ["set"], ["export"], ["source"]) for part in parts)
    for place, part in enumerate(parts):
        masked = part.tested or _is_masked(parts, place, pipefail=pipefail, strict=strict)
        inner = _inner_shell(part.words)
        if inner is not None and depth < _DEEPEST:
            for command in _commands(inner, depth + 1):
                yield _outer(command, part, masked=masked, chained=telling > 1)
            continue
        yield SimpleCommand(
            tuple(part.words) or (":",),
            tuple(part.writes),
            part.heredoc,
            masked,
            chained=telling > 1,
            shows_code=_shows_code(parts, place),
            piped=part.after in ("|", "|&"),
        )


def _outer(command: SimpleCommand, part: _Part, *, masked: bool, chained: bool) -> SimpleCommand:
    return SimpleCommand(
        command.words,
        (*command.writes, *part.writes),
        command.heredoc,
        command.masked or masked,
        chained=command.chained or chained,
        shows_code=command.shows_code,
        piped=command.piped or part.after in ("|", "|&"),
    )


def _parts(text: str) -> list[_Part]:
    bodies: list[str] = []
    if "<<" in text:
        text, bodies = _without_heredocs(text)
    parts: list[_Part] = []
    part, target = _Part([], []), ""
    for match in _TOKEN.finditer(text[:LONGEST_COMMAND]):
        kind = match.lastgroup
        if kind is None or kind == "comment":
            continue
        token = match[0]
        if kind == "end":
            part, target = _ended(parts, part, token), ""
            if len(parts) == _MOST_PARTS:
                break
        elif kind == "here":
            target = token
        elif kind == "to":
            target = "" if "&" in token[1:] else token
        elif target:
            _redirect(part, target, token, bodies)
            target = ""
        elif not part.words and (token in _KEYWORDS or _ASSIGNMENT.match(token)):
            part.tested = part.tested or token in _TESTED
        else:
            part.words.append(_plain(token))
    _ended(parts, part, "")
    return parts


def _ended(parts: list[_Part], part: _Part, operator: str) -> _Part:
    """Take what stands before an operator, and return an empty part for what stands after it."""
    if part.words or part.writes:
        part.after = operator
        parts.append(part)
        return _Part([], [])
    if parts and parts[-1].after == ")" and operator not in ("\n", "(", ")", ""):
        parts[-1].after = operator  # what stands after a group holds for the last one in it
    return part


def _redirect(part: _Part, target: str, token: str, bodies: list[str]) -> None:
    if target.startswith("<<"):
        part.heredoc = bodies.pop(0) if bodies and target != "<<<" else _plain(token)
    elif ">" in target:
        part.writes.append(_plain(token))


def _plain(token: str) -> str:
    """Return a word without its quotes."""
    if "'" not in token and '"' not in token and "\\" not in token:
        return token
    return _QUOTES.sub(_unquoted, token)


def _unquoted(match: re.Match[str]) -> str:
    if match[1] is not None:
        return "" if match[1] == "\n" else match[1]
    if match[2] is not None:
        return match[2]
    return _ESCAPED.sub(r"\1", match[3])


def _without_heredocs(text: str) -> tuple[str, list[str]]:
    """Return a command without the bodies of its here-documents, and those bodies."""
    kept: list[str] = []
    bodies: list[str] = []
    waiting: list[str] = []
    body: list[str] = []
    for line in text.split("\n"):
        if waiting:
            if line.strip("\t ") == waiting[0]:
                waiting.pop(0)
                bodies.append("\n".join(body))
                body = []
            else:
                body.append(line)
            continue
        kept.append(line)
        if "<<" in line:
            waiting = [match["tag"] for match in _HEREDOC.finditer(line)]
    if waiting:
        bodies.append("\n".join(body))
    return "\n".join(kept), bodies


def _is_errexit(words: Sequence[str]) -> bool:
    return any(word.startswith("-") and "e" in word for word in words[1:]) or "errexit" in words


def _is_masked(parts: Sequence[_Part], place: int, *, pipefail: bool, strict: bool) -> bool:
    """Return whether the whole command can succeed although this part of it failed."""
    for following in range(place, len(parts)):
        after = parts[following].after
        is_last = following == len(parts) - 1
        if after in ("|", "|&"):
            if not pipefail and not is_last:
                return True
        elif after == "||":
            return not _gives_up(parts, following + 1)
        elif after == "&":
            return True
        elif after in _SEQUENCE:
            return not (is_last or strict)
    return False


def _gives_up(parts: Sequence[_Part], place: int) -> bool:
    """Return whether what stands after `||` fails as well: `|| exit 1`."""
    words = parts[place].words if place < len(parts) else []
    return words[:1] == ["false"] or (words[:1] == ["exit"] and words[1:2] not in ([], ["0"]))


def _shows_code(parts: Sequence[_Part], place: int) -> bool:
    """Return whether the next command prints the exit code of this one."""
    piped = False
    for following in range(place, len(parts) - 1):
        after = parts[following].after
        if after in ("|", "|&"):
            piped = True
            continue
        words = parts[following + 1].words
        if after not in (";", "\n") or words[:1] not in (["echo"], ["printf"]):
            return False
        text = " ".join(words[1:])
        return "PIPESTATUS" in text if piped else "$?" in text or "PIPESTATUS" in text
    return False


def _inner_shell(words: Sequence[str]) -> str | None:
    """Return the command that a shell is started for: `bash -lc '…'`."""
    if not words or words[0].rpartition("/")[2] not in _SHELLS:
        return None
    for place, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[place + 1] if place + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None
