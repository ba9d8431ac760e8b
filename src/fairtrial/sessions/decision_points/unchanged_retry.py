"""`unchanged-retry`: the agent makes a failed call again though nothing has changed.

Bad: a call failed, and the same tool is called with the same input again as one of the next three
calls of the thread, with no prompt, no change of a file and no command in between that is not known
to change nothing. What may end otherwise for reasons of its own is not looked at: looking whether
something has happened (`sleep`, `curl`, `gh run …`), failures that tell of the network, of a time
limit or of a lock, and an edit after the file was read again.

Good: a call failed, none of the next three calls of the thread repeats it, and the first of them
does not fail as well.

The decision point is the failed result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fairtrial.conduct.program_names import program_words
from fairtrial.model.decision_point import DecisionPoint
from fairtrial.model.session import Call, Operation
from fairtrial.sessions.course import Course, Step
from fairtrial.sessions.decision_points.anchor import CourseAnchor
from fairtrial.sessions.repetition import is_poll

_NAME: Final = "unchanged-retry"
_WITHIN: Final = 3
_EDITS: Final = (Operation.EDIT, Operation.WRITE)
_PASSING: Final = re.compile(
    r"time[ds]?[ -]?out|ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|[Nn]etwork|[Rr]ate.?limit"
    r"|\b(?:429|50[234])\b"
    r"|[Tt]emporar|[Tt]ry again|\.lock\b|could not get lock|[Rr]esource busy|EBUSY|[Cc]onnection"
    r"|Could not resolve host|TLS handshake|in use"
)
_LOOKED_AT: Final = 3_000
_CHANGES_NOTHING: Final = frozenset(
    {"cat", "ls", "head", "tail", "grep", "egrep", "rg", "find", "pwd", "echo", "printf", "wc"}
    | {"which", "type", "stat", "tree", "env", "printenv", "file", "du", "awk", "sort", "uniq"}
    | {"cut", "diff", "cmp", "jq", "test", "[", "cd", "true", "set", "nl", "less", "whoami", "id"}
    | {"uname", "date", "basename", "dirname", "realpath", "readlink", "tr", "column", "xxd", "ps"}
)
_GIT_LOOKS: Final = frozenset(
    {"status", "diff", "log", "show", "branch", "blame", "grep", "ls-files", "rev-parse", "remote"}
)


def _find(course: Course) -> Iterator[DecisionPoint]:
    threads: dict[str, list[Step]] = {}
    for step in course.steps:
        threads.setdefault(step.call.thread, []).append(step)
    prompts = [turn.prompt.number for turn in course.turns if turn.prompt is not None]
    for thread, steps in threads.items():
        for place, step in enumerate(steps):
            if step.failed and not _may_pass(step):
                following = _following(steps, place, prompts)
                yield from _judged(step, following, thread)


def _following(steps: Sequence[Step], place: int, prompts: Sequence[int]) -> list[Step]:
    """Return the next calls that were made after a result, up to the next prompt."""
    failed = steps[place].result.number
    limit = next((number for number in prompts if number > failed), None)
    found: list[Step] = []
    for step in steps[place + 1 :]:
        if limit is not None and step.call.number > limit:
            break
        if step.call.number > failed:
            found.append(step)
        if len(found) == _WITHIN:
            break
    return found


def _judged(failed: Step, following: Sequence[Step], thread: str) -> Iterator[DecisionPoint]:
    after = failed.result.number
    what = _named(failed.call)
    for step in following:
        if step.key == failed.key:
            yield DecisionPoint(
                _NAME,
                after,
                f"{what} again, unchanged",
                (after, step.call.number),
                thread,
                bad=True,
            )
            return
        if _may_change(step, failed):
            break
    if following:
        summary = f"something else after {what} had failed"
        evidence = (after, following[0].call.number)
        if not following[0].failed and all(step.key != failed.key for step in following):
            yield DecisionPoint(_NAME, after, summary, evidence, thread, bad=False)


def _may_pass(failed: Step) -> bool:
    """Return whether a call may fail once and not again."""
    return is_poll(failed.call, failed.commands) or (
        not failed.checks and _PASSING.search(failed.result.text[-_LOOKED_AT:]) is not None
    )


def _may_change(step: Step, failed: Step) -> bool:
    """Return whether a call may change what a failed one says."""
    if step.mutations or step.call.operation in _EDITS:
        return not step.failed
    if failed.call.operation in _EDITS and step.call.operation is Operation.READ:
        return True
    if step.call.command is None:
        return step.call.operation not in (Operation.READ, Operation.SEARCH, Operation.TODO)
    return not step.checks and not all(_changes_nothing(part.words) for part in step.commands)


def _changes_nothing(words: Sequence[str]) -> bool:
    found = program_words(words)
    if not found:
        return True
    name, arguments = found[0], found[1:]
    if name == "git":
        return any(word in _GIT_LOOKS for word in arguments[:3])
    if name == "sed":
        return "-n" in arguments
    return name in _CHANGES_NOTHING or "--version" in arguments or "--help" in arguments


def _named(call: Call) -> str:
    if call.command is None:
        file = call.paths[0].replace("\\", "/").rpartition("/")[2] if call.paths else ""
        return f"{call.tool} of {file}" if file else call.tool
    line = " ".join(call.command.split())
    return f"`{line}`" if len(line) <= 60 else f"`{line[:59]}…`"


ANCHOR: Final = CourseAnchor(
    _NAME,
    "the agent makes a failed call again though nothing has changed",
    "Bad: the turn repeats the call that has just failed, with the same input, and nothing that"
    " could change its outcome was done. Good: the turn changes something, looks for the cause, or"
    " tells the user.",
    _find,
)
