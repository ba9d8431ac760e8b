"""Which agents are read, and which rules look for failures."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from fairtrial.model.errors import UsageError

if TYPE_CHECKING:  # it brings what is not needed to see that nothing is new
    from fairtrial.ports.sessions import FlagRule, SessionReader

READERS: Final[Mapping[str, str]] = {
    "claude-code": "fairtrial.sessions.readers.claude_code.reader:ClaudeCodeReader",
    "codex": "fairtrial.sessions.readers.codex.reader:CodexReader",
    "opencode": "fairtrial.sessions.readers.opencode.reader:OpenCodeReader",
    "gemini": "fairtrial.sessions.readers.gemini.reader:GeminiReader",
    "pi": "fairtrial.sessions.readers.pi.reader:PiReader",
    "atif": "fairtrial.sessions.readers.atif.reader:AtifReader",
    "recorded": "fairtrial.sessions.readers.recorded.reader:RecordedReader",
}
"""The reader of each agent; a module is loaded on first use."""

FLAG_RULES: Final = "fairtrial.flags"
"""The entry points of rules: each names a rule, or what makes one when it is called."""


def readers(agents: Collection[str] = ()) -> list[SessionReader]:
    """Return the readers of some agents, or of all.

    Raises:
        UsageError: there is no reader of an agent.
    """
    for agent in agents:
        if agent not in READERS:
            raise UsageError(
                f"sessions of {agent!r} cannot be read", fix=f"known: {', '.join(READERS)}"
            )
    return [_reader(READERS[agent]) for agent in (agents or READERS)]


def _reader(place: str) -> SessionReader:
    module, _, name = place.partition(":")
    reader: SessionReader = getattr(importlib.import_module(module), name)()
    return reader


def flag_rules(
    muted: Collection[str] = (), trouble: Callable[[str], None] | None = None
) -> Sequence[FlagRule]:
    """Return the program's own rules and those that are installed, in order of their names.

    Args:
        muted: Names of rules to leave out.
        trouble: Told of each rule that cannot be loaded, in words.
    """
    # 20 ms and more, only when something new was read
    import importlib.metadata  # noqa: PLC0415

    from fairtrial.sessions.flags.built_in import built_in_rules  # noqa: PLC0415

    found = {rule.name: rule for rule in built_in_rules()}
    own = frozenset(found)
    for point in importlib.metadata.entry_points(group=FLAG_RULES):
        if point.name in muted:
            continue
        try:
            loaded = point.load()
            rule: FlagRule = loaded() if isinstance(loaded, type) else loaded
            if rule.name in own:
                raise ValueError(f"the name {rule.name} is taken by a rule of fairtrial")  # noqa: TRY301
            found[rule.name] = rule
        except Exception as error:  # noqa: BLE001  # a user's rule may fail in any way
            if trouble is not None:
                trouble(f"the flag rule {point.name} ({point.value}) cannot be loaded: {error}")
    return [found[name] for name in sorted(found) if name not in muted]
