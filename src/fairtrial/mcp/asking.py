"""What a person is asked before a tool costs or writes something."""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Final

from fairtrial.app.bench import Bench
from fairtrial.mcp.command_lines import command_line
from fairtrial.mcp.marking import shown_texts
from fairtrial.mcp.offered import Tool
from fairtrial.model.errors import RefusedError

_MOST_OPEN: Final = 1_000
_LONGEST: Final = 1_500


def needs_asking(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether a person is asked: not for what only reads, nor for a dry run."""
    dry = arguments.get("dry_run") is True and "dry_run" in {one.name for one in tool.options()}
    return bool(tool.asks) and not dry


def question(bench: Bench, tool: Tool, request: Any, arguments: Mapping[str, Any]) -> str:
    """Return what is asked, with what would be done and what that costs.

    Raises:
        FairtrialError: it would not even begin.
    """
    shown = shown_texts()
    lines = [tool.asks, "", f"  {_whole(shown(command_line(tool, arguments)))}"]
    if hasattr(request, "dry_run"):
        plan = tool.verb.function()(bench, dataclasses.replace(request, dry_run=True))
        lines += [_whole(shown(line)) for line in _facts(plan)]
    else:
        lines.append(f"In {shown(str(bench.cwd))}.")
    return "\n".join(lines)


def _whole(line: str) -> str:
    """Return a line, and where it is endless, that there is more than is shown."""
    left = len(line) - _LONGEST
    return line if left <= 0 else f"{line[:_LONGEST]} … {left:,} MORE CHARACTERS ARE NOT SHOWN"


def _facts(plan: Any) -> Iterator[str]:
    """Yield what a dry run says of cost, size and what would be run."""
    cost = getattr(plan, "cost", None)
    if cost is not None:
        yield f"Cost: {cost.text()}."
    planned = getattr(plan, "n_planned", None)
    if planned is not None:
        kept = getattr(plan, "n_kept", None)
        due = plan.n_due if kept is None else planned - kept
        yield f"Trials to run: {due:,} of {planned:,}."
    arms = getattr(plan, "arms", None)
    if arms is None and hasattr(plan, "spec"):
        arms = plan.spec.get("arms")
    for name, task in (arms or {}).items():
        yield f"Arm {name}: {json.dumps(task, ensure_ascii=False)}"
    graders = plan.spec.get("graders") if hasattr(plan, "spec") else None
    for grader in graders or ():
        yield f"Grader: {json.dumps(grader, ensure_ascii=False)}"
    tasks = getattr(plan, "tasks", None)
    if tasks:
        yield f"Tasks: {', '.join(map(str, tasks))}"


def not_asked(tool: Tool, arguments: Mapping[str, Any], why: str) -> RefusedError:
    """Return the refusal of a tool whose person cannot be asked."""
    return RefusedError(
        f"{tool.name} is not done unasked, and nobody can be asked",
        why=why,
        fix=f"ask the person to type: {command_line(tool, arguments)}",
    )


class OpenQuestions:
    """Questions that a client took along, and will answer by calling again.

    An answer counts once, and only for the call that it was asked about.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, str] = {}

    def ask(self, call: str) -> str:
        """Return what the client sends back with the answer to whether a call is made."""
        state = secrets.token_urlsafe(24)
        with self._lock:
            while len(self._open) >= _MOST_OPEN:
                self._open.pop(next(iter(self._open)))
            self._open[state] = call
        return state

    def answers(self, state: str, call: str) -> bool:
        """Return whether a call is the one that was asked about."""
        with self._lock:
            asked = self._open.pop(state, None)
        return asked == call


def digest(tool: Tool, arguments: Mapping[str, Any], request: Any) -> str:
    """Return what one call is known by: with what its files held when it came."""
    text = json.dumps([tool.name, arguments, repr(request)], sort_keys=True)
    return sha256(text.encode()).hexdigest()
