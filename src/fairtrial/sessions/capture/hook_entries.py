"""Hooks in a JSON file of settings, which Claude Code and Codex write alike.

`{"hooks": {EVENT: [{"matcher": TOOLS, "hooks": [{"type": "command", "command": …}]}]}}`
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fairtrial.sessions.capture.command_line import is_ours
from fairtrial.sessions.capture.json_settings import SettingsError, parsed, written
from fairtrial.sessions.capture.payload import CLAUDE_CODE, CODEX

TIMEOUT_S: Final = 15
"""What the agent allows a hook; ours gives up before."""

EVENTS: Final[Mapping[str, Mapping[str, str | None]]] = {
    CLAUDE_CODE: {
        "SessionStart": None,
        "UserPromptSubmit": None,
        "PreToolUse": "Bash|Edit|MultiEdit|Write|NotebookEdit",
        "Stop": None,
        "StopFailure": None,
        "SessionEnd": None,
    },
    CODEX: {
        "SessionStart": None,
        "UserPromptSubmit": None,
        "PreToolUse": "Bash|apply_patch",
        "Stop": None,
        "SessionEnd": None,
    },
}
"""The events that each agent tells of, and which tools."""


def with_hooks(text: str | None, agent: str, command: str) -> str:
    """Return a file's text with our hooks in it; the same text when they are there already.

    All else keeps its place; hooks of ours that are written otherwise are replaced.

    Args:
        text: What is in the file; None when there is none.
        agent: Whose settings these are.
        command: What the hooks call.

    Raises:
        SettingsError: the file is broken, or its hooks are no hooks.
    """
    settings = _parsed(text)
    wanted = {event: _group(matcher, command) for event, matcher in EVENTS[agent].items()}
    if _ours(settings) == {event: [group] for event, group in wanted.items()} and text is not None:
        return text
    _take_out(settings, keep=())
    hooks = settings.setdefault("hooks", {})
    for event, group in wanted.items():
        hooks.setdefault(event, []).append(group)
    return written(settings, text or "")


def without_hooks(text: str, before: str | None) -> str:
    """Return a file's text without our hooks; the same text when there are none.

    Args:
        text: What is in the file.
        before: What was in it before our hooks were; None when that is not known. Its empty
            lists and objects stay.

    Raises:
        SettingsError: the file is broken, or its hooks are no hooks.
    """
    settings = _parsed(text)
    if not _ours(settings):
        return text
    try:
        known = _parsed(before)
    except SettingsError:
        known = {}
    keep = tuple(known["hooks"]) if "hooks" in known else ()
    _take_out(settings, keep=keep)
    if not settings["hooks"] and "hooks" not in known:
        del settings["hooks"]
    return written(settings, text)


def has_hooks(text: str) -> bool:
    """Return whether hooks of ours are in a file.

    Raises:
        SettingsError: the file is broken, or its hooks are no hooks.
    """
    return bool(_ours(_parsed(text)))


def switched_off(text: str) -> bool:
    """Return whether Claude Code's settings say that no hooks are called.

    Raises:
        SettingsError: the file is broken, or its hooks are no hooks.
    """
    return _parsed(text).get("disableAllHooks") is True


def commands(text: str) -> list[str]:
    """Return the commands of our hooks in a file, each once.

    Raises:
        SettingsError: the file is broken, or its hooks are no hooks.
    """
    groups = [group for groups in _ours(_parsed(text)).values() for group in groups]
    found = [hook["command"] for group in groups for hook in group["hooks"]]
    return list(dict.fromkeys(found))


def _group(matcher: str | None, command: str) -> dict[str, Any]:
    hook = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    return {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}


def _parsed(text: str | None) -> dict[str, Any]:
    settings = parsed(text)
    _check(settings.get("hooks", {}))
    return settings


def _check(hooks: object) -> None:
    if not isinstance(hooks, dict):
        raise SettingsError('"hooks" is no object')
    for event, groups in hooks.items():
        if not isinstance(groups, list):
            raise SettingsError(f'"hooks.{event}" is no list')


def _ours(settings: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return, by event, what is left of each group when only our hooks stay in it."""
    found: dict[str, list[Any]] = {}
    for event, groups in settings.get("hooks", {}).items():
        for group in groups:
            ours = [hook for hook in _hooks_of(group) if _is_ours(hook)]
            if ours:
                found.setdefault(event, []).append({**group, "hooks": ours})
    return found


def _hooks_of(group: object) -> list[Any]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return hooks if isinstance(hooks, list) else []


def _is_ours(hook: object) -> bool:
    return isinstance(hook, dict) and is_ours(hook.get("command"))


def _take_out(settings: dict[str, Any], keep: tuple[str, ...]) -> None:
    """Take our hooks out, and what held nothing else; events to keep may stay empty."""
    ours = _ours(settings)
    for event in ours:
        left = []
        for group in settings["hooks"][event]:
            hooks = _hooks_of(group)
            others = [hook for hook in hooks if not _is_ours(hook)]
            if others or not hooks:
                left.append({**group, "hooks": others} if len(others) < len(hooks) else group)
        if left or event in keep:
            settings["hooks"][event] = left
        else:
            del settings["hooks"][event]
