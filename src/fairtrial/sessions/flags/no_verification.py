"""`no-verification`: files changed, but no test, type check, lint or build ran.

A session has it when

- the agent had the last word (its state is `completed` or `question`),
- at least one file that is no document was changed in the session's folder or repository, by a
  shell command that is known to write, or by an edit or a write in more than blank lines and
  comments, and
- no test, type check, lint or build of any thread passed, failed, or ran with an end that cannot
  be told; a tool that shows an editor's diagnostics counts as one.

Level `warn`; `info` when only configuration changed, when a verification was tried but could not
start, was refused or had not ended, when the agent ran a file that it had changed, or when what a
subagent did is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fairtrial.model.flag import Flag, FlagLevel
from fairtrial.model.session import MAIN, Operation
from fairtrial.sessions.course import Course
from fairtrial.sessions.file_roles import FileRole
from fairtrial.sessions.flags.diff_lines import lines_of_code
from fairtrial.sessions.flags.rule import CourseRule
from fairtrial.sessions.mutations import UNKNOWN_PATH, Mutation

_NAME: Final = "no-verification"
_MOST_EVIDENCE: Final = 20


def _find(course: Course) -> Iterator[Flag]:
    if not course.ended:
        return
    changed = [mutation for mutation in course.code_mutations() if not _is_nothing(mutation)]
    if not changed or any(check.ran for check in course.checks) or _diagnosed(course):
        return
    files = tuple(dict.fromkeys(mutation.path for mutation in changed))
    why = _excuse(course, changed)
    count = "1 file" if len(files) == 1 else f"{len(files)} files"
    summary = f"{count} changed, and no test, type check, lint or build ran"
    yield Flag(
        _NAME,
        FlagLevel.WARN if why is None else FlagLevel.INFO,
        summary if why is None else f"{summary}; {why}",
        tuple(dict.fromkeys(mutation.number for mutation in changed))[:_MOST_EVIDENCE],
        {"files": list(files[:_MOST_EVIDENCE])},
    )


def _is_nothing(mutation: Mutation) -> bool:
    """Return whether a change may be none of code: of an unknown file, or of comments only."""
    if mutation.path == UNKNOWN_PATH:
        return True
    return mutation.change is not None and lines_of_code(mutation.change) == 0


def _diagnosed(course: Course) -> bool:
    """Return whether an editor's diagnostics were looked at."""
    return any(
        step.call.operation is Operation.MCP and "diagnostic" in step.call.tool.lower()
        for step in course.steps
    )


def _excuse(course: Course, changed: Sequence[Mutation]) -> str | None:
    """Return why this may be as it should be."""
    if all(mutation.role is FileRole.CONFIG for mutation in changed):
        return "only configuration changed"
    if course.checks:
        return "one was tried"
    delegated = any(step.call.operation is Operation.AGENT for step in course.steps)
    if delegated and all(thread == MAIN for thread in course.threads):
        return "what its subagents did is not known"
    names = {mutation.path.rpartition("/")[2] for mutation in changed}
    for step in course.steps:
        command = step.call.command
        if command and not step.mutations and step.result.number > changed[0].number:
            ran = any(
                word.rpartition("/")[2] in names
                for part in step.commands
                for word in part.words[:3]
                if part.program not in _LOOKERS
            )
            if ran:
                return "it ran what it changed"
    return None


_LOOKERS: Final = frozenset(
    {"cat", "head", "tail", "less", "grep", "rg", "ls", "wc", "git", "diff", "sed", "awk", "nl"}
    | {"chmod", "stat", "file", "find", "cp", "mv", "rm", "touch", "cd", "echo", "code", "bat"}
)
"""Programs that only look at a file, or move it."""

RULE: Final = CourseRule(_NAME, "files changed, but no test, type check, lint or build ran", _find)
