"""What the tools of Codex do, and what their outputs say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from fairtrial.model.json import Json
from fairtrial.model.session import FileChange, Operation, ResultStatus
from fairtrial.sessions.readers.codex.patches import MARK, patched
from fairtrial.sessions.tolerant import parsed

_OPERATIONS: Final = {
    "shell": Operation.SHELL,
    "shell_command": Operation.SHELL,
    "local_shell": Operation.SHELL,
    "local_shell_call": Operation.SHELL,
    "container.exec": Operation.SHELL,
    "exec_command": Operation.SHELL,
    "unified_exec": Operation.SHELL,
    "write_stdin": Operation.WAIT,
    "wait": Operation.WAIT,
    "wait_agent": Operation.WAIT,
    "list_agents": Operation.WAIT,
    "sleep": Operation.WAIT,
    "apply_patch": Operation.EDIT,
    "update_plan": Operation.TODO,
    "view_image": Operation.READ,
    "read_file": Operation.READ,
    "list_dir": Operation.SEARCH,
    "grep_files": Operation.SEARCH,
    "tool_search": Operation.SEARCH,
    "web_search": Operation.WEB,
    "web_search_call": Operation.WEB,
    "spawn_agent": Operation.AGENT,
    "send_input": Operation.AGENT,
    "send_message": Operation.AGENT,
    "followup_task": Operation.AGENT,
    "resume_agent": Operation.AGENT,
    "close_agent": Operation.AGENT,
}
_SHELLS: Final = ("bash", "sh", "zsh", "dash")
_HEAD: Final = 1_000
_CODE: Final = re.compile(r"(?:Process exited with code|^Exit code:) (-?\d+)", re.MULTILINE)
_WALL: Final = re.compile(r"^Wall time:? (\d+(?:\.\d+)?) seconds", re.MULTILINE)
_HEADER: Final = re.compile(r"Chunk ID: |Exit code: |Wall time|Script ")
_NO_PROGRAM: Final = (126, 127)
_WORDS: Final = (
    (
        ResultStatus.RUNNING,
        re.compile(r"Process running with session ID|^Script running", re.MULTILINE),
    ),
    (
        ResultStatus.INTERRUPTED,
        re.compile(r"^aborted by user|^Script (?:aborted|cancell?ed)", re.MULTILINE),
    ),
    (
        ResultStatus.DENIED,
        re.compile(
            r"rejected by user|rejected: |approval (?:was )?denied|denied by (?:the )?user|"
            r"blocked by (?:a )?(?:PreToolUse )?hook|Command blocked by"
        ),
    ),
    (
        ResultStatus.NO_RUN,
        re.compile(
            r"^unsupported (?:custom tool )?call|failed to parse (?:function )?arguments|"
            r"^unknown tool|^failed to parse exec_command|incompatible payload"
        ),
    ),
    (
        ResultStatus.FAIL,
        re.compile(
            r"^(?:exec_command|write_stdin|apply_patch verification) failed|"
            r"^Script (?:failed|error)|^execution error|^failed in sandbox|^err: "
        ),
    ),
)


class Pending(msgspec.Struct):
    """A call whose output is awaited.

    Attributes:
        operation: What kind of tool.
        at: When it was made, seconds since 1970; None is unknown.
        patch: The patch that it applies.
        exit_code: What Codex told of it before the output.
        failed: Whether Codex told that it failed.
        changes: What Codex told that it changed; None when it told nothing.
    """

    operation: Operation
    at: float | None = None
    patch: str | None = None
    exit_code: int | None = None
    failed: bool = False
    changes: tuple[FileChange, ...] | None = None


def operation_of(tool: str, namespace: str | None = None) -> Operation:
    """Return what kind of tool has this name."""
    if tool.startswith("mcp__") or (namespace or "").startswith("mcp"):
        return Operation.MCP
    return _OPERATIONS.get(tool, Operation.MCP if "__" in tool else Operation.OTHER)


def command_of(arguments: Json) -> str | None:
    """Return the command that a call of a shell runs, without the shell around it."""
    found = arguments
    if isinstance(arguments, Mapping):
        found = arguments.get("cmd", arguments.get("command"))
    if isinstance(found, str):
        return found
    if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
        shell = found[0].rpartition("/")[2] in _SHELLS
        whole = shell and len(found) == 3 and found[1] in ("-lc", "-c")
        return str(found[2]) if whole else shlex.join(found)
    return None


def patch_of(tool: str, arguments: Json, command: str | None) -> str | None:
    """Return the patch that a call applies; older models call a program for it."""
    text: Any = arguments
    if isinstance(arguments, Mapping):
        text = arguments.get("input", arguments.get("patch"))
    if tool == "apply_patch":
        return text if isinstance(text, str) else None
    if command is None or MARK not in command or "apply_patch" not in command[:200]:
        return None
    found = arguments.get("command") if isinstance(arguments, Mapping) else None
    if isinstance(found, list) and len(found) == 2 and isinstance(found[1], str):
        return found[1]
    return command[command.index(MARK) :]


def paths_of(patch: str | None, arguments: Json) -> tuple[str, ...]:
    """Return the files that a call names."""
    if patch is not None:
        return tuple(change.path for change in patched(patch))
    path = (
        arguments.get("path", arguments.get("file_path")) if isinstance(arguments, dict) else None
    )
    return (path,) if isinstance(path, str) else ()


def outcome_of(output: Any, operation: Operation) -> tuple[ResultStatus, int | None, float | None]:
    """Return how a call ended by its output: status, exit code, seconds."""
    told = parsed(output)
    text = _shown(output)
    if isinstance(told, Mapping) and isinstance(told.get("metadata"), Mapping):
        code = told["metadata"].get("exit_code")
        took = told["metadata"].get("duration_seconds")
        seconds = float(took) if isinstance(took, int | float) else None
        return (*status_of_code(code if isinstance(code, int) else None), seconds)
    head = text[:_HEAD]
    wall = _WALL.search(head)
    seconds = float(wall[1]) if wall else None
    code_found = _CODE.search(head.partition("\nOutput:")[0])
    if code_found is not None:
        return (*status_of_code(int(code_found[1])), seconds)
    header = head if operation is not Operation.MCP else head[:200]
    for status, words in _WORDS:
        if words.search(header):
            return status, None, seconds
    return ResultStatus.OK, None, seconds


def status_of_code(code: int | None) -> tuple[ResultStatus, int | None]:
    """Return what an exit code says."""
    if code is None or code == 0:
        return ResultStatus.OK, code
    if code < 0:  # it was stopped when Codex ended
        return ResultStatus.INTERRUPTED, code
    return ResultStatus.NO_RUN if code in _NO_PROGRAM else ResultStatus.FAIL, code


def output_text(output: Any) -> str:
    """Return what the model was shown of an output, without the header that Codex adds.

    The header has another id in each call, so identical outputs would not look so.
    """
    text = _shown(output)
    if _HEADER.match(text):
        head, mark, rest = text.partition("\nOutput:\n")
        return rest if mark and len(head) < _HEAD else text
    return text


def _shown(output: Any) -> str:
    told = parsed(output)
    if isinstance(told, Mapping):
        for name in ("output", "content"):
            if isinstance(told.get(name), str):
                return str(told[name])
        return output if isinstance(output, str) else ""
    if isinstance(told, list):
        parts = [part.get("text") for part in told if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return output if isinstance(output, str) else ""
