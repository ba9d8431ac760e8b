"""The tools: which verbs are offered to agents, and which of them a person is asked about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from fairtrial.app.verbs import Verb, find_verb
from fairtrial.model.errors import DefectError, UsageError
from fairtrial.schema.fields import Option, options_of
from fairtrial.schema.json_schema import json_schema

_NEVER: Final = frozenset({"watching", "watch", "yes", "plan", "output", "plot"})
"""Options that only a person at a terminal has a use for, or that write a file anywhere."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        words: The words of its verb.
        asks: What a person is asked, e.g. `Run an experiment?`; empty when it only reads.
        about: What its name does not say: a sentence for the agent.
        left_out: Options of the verb that the tool does not have.
        called: Its name, when it is not that of the verb.
    """

    words: tuple[str, ...]
    asks: str = ""
    about: str = ""
    left_out: frozenset[str] = field(default_factory=frozenset)
    called: str = ""

    @property
    def name(self) -> str:
        """Its name in the protocol."""
        return self.called or self.verb.module

    @property
    def verb(self) -> Verb:
        """The verb behind it."""
        found = find_verb(self.words)
        if found is None or found.path != self.words:
            raise DefectError(f"there is no verb {' '.join(self.words)}")
        return found

    @property
    def runs_programs(self) -> bool:
        """Whether it runs what tasks, graders and verifiers name."""
        return self.verb.runs_trials or (bool(self.asks) and self.verb.runs_graders)

    def options(self) -> list[Option]:
        """Return the options that an agent may give.

        A tool that only reads has none that names a file: nobody is asked which.
        """
        return [
            option
            for option in options_of(self.verb.request())
            if not option.command_line.hidden
            and option.name not in _NEVER | self.left_out
            and (self.asks or not _names_file(option))
        ]

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, derived from the verb's request."""
        whole = json_schema(self.verb.request(), title=self.name)
        names = {option.name for option in self.options()}
        properties: Mapping[str, Any] = whole["properties"]
        kept = {name: schema for name, schema in properties.items() if name in names}
        return {**whole, "properties": kept}

    def description(self) -> str:
        """Return what an agent reads about it."""
        said = " ".join((self.verb.request().__doc__ or "").split())
        asked = "The person is asked first, with the cost where there is one." if self.asks else ""
        return " ".join(part for part in (said, self.about, asked) if part)


def _names_file(option: Option) -> bool:
    return any(part is Path for part in _parts(option.type))


def _parts(kind: Any) -> list[Any]:
    return [kind, *(inner for part in get_args(kind) for inner in _parts(part))]


TOOLS: Final = (
    Tool(("sessions", "list")),
    Tool(("sessions", "show")),
    Tool(("sessions", "flags"), left_out=frozenset({"mute", "unmute", "again"})),
    Tool(("sessions", "stats")),
    Tool(
        ("sessions", "sync"),
        "Read the sessions that coding agents recorded on this machine into the store?",
        left_out=frozenset({"path"}),
    ),
    Tool(("dataset", "list")),
    Tool(("dataset", "show")),
    Tool(("dataset", "add"), "Store cases as a new version of a dataset?"),
    Tool(("exp", "list")),
    Tool(("exp", "show")),
    Tool(("exp", "status")),
    Tool(("exp", "compare"), left_out=frozenset({"pairwise", "min_labels", "to", "marker"})),
    Tool(("exp", "gate"), left_out=frozenset({"clear"})),
    Tool(
        ("exp", "run"),
        "Run an experiment on this machine?",
        "With dry_run it only says what would run and what it may cost; nobody is asked then.",
    ),
    Tool(
        ("exp", "ab"),
        "Put recorded decisions to a model again, with the harness as it was and as it is edited?",
        "With dry_run it only says what would be asked and what it may cost; nobody is asked then.",
        # Anchors are programs, and only a person lifts the protection of a line.
        left_out=frozenset({"anchor", "watch", "allow_protected_edit"}),
    ),
    Tool(("eval", "list")),
    Tool(("eval", "show")),
    Tool(("eval", "report"), left_out=frozenset({"to"})),
    Tool(
        ("eval", "init"),
        "Write draft eval tasks into the repository?",
        "With dry_run it writes nothing and nobody is asked.",
    ),
    Tool(
        ("eval", "new"),
        "Write an eval task of a session into the repository?",
        called="eval_from_session",
    ),
    Tool(("eval", "validate"), "Run the verifiers of eval tasks on this machine?"),
    Tool(
        ("eval", "run"),
        "Let a coding agent work on eval tasks?",
        "With dry_run it only says what would run and what it may cost; nobody is asked then.",
    ),
    Tool(("calls", "list")),
    Tool(("calls", "show")),
)


def find_tool(name: str) -> Tool | None:
    """Return the tool of a name."""
    return next((tool for tool in TOOLS if tool.name == name), None)


def check_allowed(names: Collection[str]) -> frozenset[str]:
    """Return names of tools that run unasked, as given to `--allow`.

    Raises:
        UsageError: there is no such tool, or it asks nobody anyway.
    """
    asking = [tool.name for tool in TOOLS if tool.asks]
    for name in names:
        if name not in asking:
            why = "it only reads, and asks nobody" if find_tool(name) else "there is no such tool"
            raise UsageError(
                f"{name!r} cannot be allowed", where="--allow", why=why, fix=", ".join(asking)
            )
    return frozenset(names)
