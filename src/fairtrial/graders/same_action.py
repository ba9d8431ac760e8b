"""A next turn takes the same first action as the recorded one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fairtrial.graders.in_process import InProcessGrader, wanted
from fairtrial.graders.json_values import first_difference
from fairtrial.model.errors import GraderError
from fairtrial.model.grader import Grade, GraderSpec, Subject
from fairtrial.model.json import Json
from fairtrial.model.wording import shown
from fairtrial.ports import Surroundings

DEFAULT_THRESHOLD = 1.0


@dataclass(frozen=True)
class Options:
    """Options of a same_action grader."""

    inputs: Literal["same", "any"] = "same"
    """Whether the tool must get the same input, or may get any."""
    ignore: tuple[str, ...] = ("description",)
    """Fields of a tool's input that do not count: what only comments the action."""


@dataclass(frozen=True, slots=True)
class SameAction(InProcessGrader):
    """Compares the first tool that a turn asks for with that of the recorded turn.

    A turn that asks for no tool takes one action as well: it ends, with words.
    """

    options: Options

    def judge(self, subject: Subject) -> Grade:
        """Return 1 for the same action, else 0."""
        recorded = _first_use(wanted(None, subject, "expected"), "what the case expects")
        taken = _first_use(subject.output, "the output")
        if recorded is None or taken is None:
            return _without_tool(recorded, taken)
        if recorded["name"] != taken["name"]:
            return Grade(0.0, f"asks for {_name(taken)}, the recorded turn for {_name(recorded)}")
        if self.options.inputs == "any":
            return Grade(1.0, f"asks for {_name(taken)} too")
        difference = first_difference(self._input(recorded), self._input(taken))
        if difference is None:
            return Grade(1.0, f"asks for {_name(taken)} with the same input")
        return Grade(0.0, f"asks for {_name(taken)} with another input: {difference}")

    def _input(self, use: Mapping[str, Json]) -> Json:
        given = use.get("input")
        if not isinstance(given, Mapping):
            return _plain(given)
        ignored = self.options.ignore
        return {name: _plain(value) for name, value in given.items() if name not in ignored}


def _first_use(turn: Json, what: str) -> Mapping[str, Json] | None:
    uses = turn.get("tool_uses") if isinstance(turn, Mapping) else None
    if not isinstance(uses, Sequence) or isinstance(uses, str):
        raise GraderError(f"{what} is no turn: it must be an object with 'tool_uses'")
    if not uses:
        return None
    first = uses[0]
    if not isinstance(first, Mapping) or not isinstance(first.get("name"), str):
        raise GraderError(f"{what} has a tool use without a name")
    return first


def _without_tool(recorded: Mapping[str, Json] | None, taken: Mapping[str, Json] | None) -> Grade:
    if recorded is taken:
        return Grade(1.0, "ends without a tool, as the recorded turn did")
    if taken is None:
        name = "" if recorded is None else f": it asked for {_name(recorded)}"
        return Grade(0.0, f"ends without a tool, unlike the recorded turn{name}")
    return Grade(0.0, f"asks for {_name(taken)}, while the recorded turn ended without a tool")


def _name(use: Mapping[str, Json]) -> str:
    return shown(use["name"])


def _plain(value: Json) -> Json:
    # Blanks at the ends of lines come and go between two runs of one model.
    if isinstance(value, str):
        return "\n".join(line.rstrip() for line in value.strip().splitlines())
    return value


def build(
    spec: GraderSpec, options: Options, _surroundings: Surroundings, _where: str
) -> SameAction:
    """Return the grader."""
    return SameAction(spec, options)
