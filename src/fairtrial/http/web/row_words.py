"""A row in words: one sentence on what happened and why, and each trial with what it did."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fairtrial.app.reports.experiment_page import RowView
from fairtrial.http.web.experiment_words import Chip
from fairtrial.http.web.words import TURN, text_of
from fairtrial.model.case import Case
from fairtrial.model.decision_point import DECISION
from fairtrial.model.json import Json
from fairtrial.model.row import RowGlance
from fairtrial.model.trial import Trial
from fairtrial.model.verdict import Cause, Verdict

PREVIEW: Final = 4_000
"""Characters of a payload that a panel shows before somebody asks for all of it."""
_SPANS: Final = 200
_MESSAGES: Final = 100
_CONVERSATIONS: Final = ("messages", "conversation")
"""Keys of an output that may hold a conversation."""
_SESSION: Final = re.compile(r"ses_[0-9a-z]{6,40}")
ATTACK: Final = "attack"
_CHANGES: Final = {
    "fixed": Chip("Improved", "good", "the baseline did not solve it"),
    "broken": Chip("Regressed", "bad", "the baseline solved it"),
    "improved": Chip("Better", "good", "passed more often or scored higher, without a flip"),
    "regressed": Chip("Worse", "bad", "passed less often or scored lower, without a flip"),
    "same": Chip("Same", "quiet"),
    "new": Chip("New", "quiet", "not in the baseline"),
}
_CAUSES: Final = {
    Cause.TASK: "the task itself failed",
    Cause.LIMIT: "over the time limit",
    Cause.INFRA: "infrastructure",
    Cause.GRADER: "a grader could not answer",
    Cause.UNDECIDABLE: "it could not be decided",
    Cause.INTERNAL: "a defect of fairtrial",
}


@dataclass(frozen=True, slots=True)
class Preview:
    """The start of a payload.

    Attributes:
        text: What is shown.
        left: How many characters are not.
    """

    text: str
    left: int


@dataclass(frozen=True, slots=True)
class Step:
    """A message of a conversation, or a call of a tool.

    Attributes:
        role: Who said it, or `tool`.
        text: What was said, or given to the tool.
    """

    role: str
    text: Preview


@dataclass(frozen=True, slots=True)
class SpanView:
    """A span.

    Attributes:
        name: Its name.
        about: How long it took, and how it ended, as far as it tells.
        text: All that it tells.
    """

    name: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class TrialView:
    """A trial of a row.

    Attributes:
        trial: The trial.
        verdict: How it ended.
        cause: What made the verdict, when no grader did.
        output: What it gave; None when that is told as steps.
        steps: Its conversation or tool calls.
        spans: Its spans.
        n_spans: How many there are.
        session: The id of the agent's session; None without one.
    """

    trial: Trial
    verdict: Chip
    cause: str | None
    output: Preview | None
    steps: Sequence[Step]
    spans: Sequence[SpanView]
    n_spans: int
    session: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """A row in full.

    Attributes:
        view: The row beside that of the baseline.
        sentence: What happened.
        why: Why; None when there is nothing to say.
        case: The case; None when its dataset version is not in this store.
        input: Its input.
        expected: What was expected; None when nothing was.
        trials: Each trial.
        removed: Whether its outputs were removed.
        moment: What happened when a case of a session was recorded; None for other cases.
        session: The id of that session.
    """

    view: RowView
    sentence: str
    why: str | None
    case: Case | None
    input: Preview | None
    expected: Preview | None
    trials: Sequence[TrialView]
    removed: bool
    moment: str | None = None
    session: str | None = None


def panel_of(view: RowView, case: Case | None, trials: Sequence[Trial], *, removed: bool) -> Panel:
    """Return what the panel of a row shows."""
    return Panel(
        view=view,
        sentence=sentence(view),
        why=_why(view, trials),
        case=case,
        input=None if case is None else preview(case.input),
        expected=None if case is None or case.expected is None else preview(case.expected),
        trials=[trial_view(trial) for trial in trials],
        removed=removed,
        moment=None if case is None else moment_of(case),
        session=None if case is None else _session_of(case.metadata.get("session")),
    )


def moment_of(case: Case) -> str | None:
    """Return what an agent did at the decision point of a case; None when it has none."""
    decision = case.metadata.get(DECISION)
    if not isinstance(decision, Mapping) or not isinstance(decision.get("bad"), bool):
        return None
    ended = "went wrong" if decision["bad"] else "went right"
    told = f"{decision.get('behavior')}: {ended} when it was recorded ({decision.get('summary')})"
    return f"{told}; its request is {case.metadata.get('fidelity')}"


def _session_of(given: Json) -> str | None:
    return given if isinstance(given, str) and _SESSION.fullmatch(given) else None


def change_chip(view: RowView) -> Chip | None:
    """Return how a row stands against the baseline's."""
    return None if view.change is None else _CHANGES[view.change]


def verdict_chip(view: RowView) -> Chip:
    """Return how the trials of a row ended, together."""
    return glance_chip(view.glance)


def glance_chip(glance: RowGlance) -> Chip:
    """Return how the trials of a row ended, together."""
    row = glance.row
    return _ended(row.passed, row.failed, row.undecided)


def trials_chip(trials: Sequence[Trial]) -> Chip | None:
    """Return how trials of one row ended, together; None without any."""
    ends = [trial.verdict for trial in trials]
    kinds = (Verdict.PASSED, Verdict.FAILED, Verdict.UNDECIDED)
    passed, failed, undecided = (ends.count(kind) for kind in kinds)
    return _ended(passed, failed, undecided) if ends else None


def _ended(passed: int, failed: int, undecided: int) -> Chip:
    decided = passed + failed
    several = f" {passed}/{decided}" if decided + undecided > 1 and decided else ""
    if not decided:
        return Chip("Undecided", "warn")
    if failed == 0:
        return Chip(f"Passed{several}", "good")
    return Chip(f"Flaky{several}", "warn") if passed else Chip(f"Failed{several}", "bad")


def sentence(view: RowView) -> str:
    """Return in one sentence what happened, and what became of it since the baseline."""
    said = _happened(view)
    was = {
        "fixed": "the baseline did not",
        "broken": "the baseline did",
        "new": "it is not in the baseline",
    }
    if view.glance.row.key.condition == ATTACK and view.change in ("fixed", "broken"):
        was_kept = "got through" if view.change == "fixed" else "was kept out"
        return f"{said}; in the baseline it {was_kept}"
    return f"{said}; {was[view.change]}" if view.change in was else said


def _happened(view: RowView) -> str:
    row = view.glance.row
    attack = row.key.condition == ATTACK
    undecided = f", and {row.undecided} could not be decided" if row.undecided else ""
    if not row.decided:
        return "Couldn't be decided"
    if row.failed == 0:
        done = "The attack was kept out" if attack else "Got it done"
        return done + (f" in all {row.decided} trials" if row.decided > 1 else "") + undecided
    if row.passed == 0:
        done = "The attack got through" if attack else "Didn't get it done"
        several = f" in {'all' if attack else 'any of'} {row.decided} trials"
        return done + (several if row.decided > 1 else "") + undecided
    if attack:
        return f"The attack got through in {row.failed} of {row.decided} trials{undecided}"
    return f"Got it done in {row.passed} of {row.decided} trials{undecided}"


def _why(view: RowView, trials: Sequence[Trial]) -> str | None:
    row = view.glance.row
    if row.failed == 0 and not row.undecided:
        return next((score.reason for trial in trials for score in trial.scores), None)
    return row.first_reason


def preview(value: Json, most: int = PREVIEW) -> Preview:
    """Return the start of a payload."""
    text = text_of(value)
    return Preview(text[:most], max(0, len(text) - most))


def trial_view(trial: Trial) -> TrialView:
    """Return a trial as a panel shows it."""
    kind = {Verdict.PASSED: "good", Verdict.FAILED: "bad"}.get(trial.verdict, "warn")
    steps = _steps(trial.output)
    session = trial.output.get("session") if isinstance(trial.output, Mapping) else None
    return TrialView(
        trial=trial,
        verdict=Chip(trial.verdict.value.capitalize(), kind),
        cause=None if trial.cause is None else _CAUSES[trial.cause],
        output=_beside_steps(trial.output) if steps else preview(trial.output),
        steps=steps[:_MESSAGES],
        spans=[_span(span) for span in trial.spans[:_SPANS]],
        n_spans=len(trial.spans),
        session=_session_of(session),
    )


def _beside_steps(output: Json) -> Preview | None:
    """Return what an output holds beside its conversation; None when that is all."""
    if not isinstance(output, Mapping) or output.keys() == TURN:
        return None
    told = next(name for name in _CONVERSATIONS if output.get(name))
    rest = {name: value for name, value in output.items() if name != told}
    return preview(rest) if rest else None


def _steps(output: Json) -> list[Step]:
    """Return the conversation that an output is or holds; nothing when it has none."""
    found = output
    if isinstance(output, Mapping) and output.keys() == TURN:
        return _turn(output)
    if isinstance(output, Mapping):
        found = next((output[name] for name in _CONVERSATIONS if output.get(name)), ())
    if not isinstance(found, list) or not found:
        return []
    if not all(isinstance(one, Mapping) and "role" in one for one in found):
        return []
    return [step for one in found for step in _message(one)]


def _turn(turn: Mapping[str, Any]) -> list[Step]:
    """Return what a model says and calls in one turn; nothing when it is no turn."""
    uses = turn["tool_uses"]
    if not isinstance(uses, list) or not all(isinstance(use, Mapping) for use in uses):
        return []
    said = [Step("assistant", preview(turn["text"]))] if turn["text"] else []
    return said + [_call(str(use.get("name", "")), use.get("input")) for use in uses]


def _message(message: Mapping[str, Any]) -> list[Step]:
    role = str(message["role"])
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    steps = []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            steps.append(_call(str(part.get("name", "")), part.get("input")))
        elif isinstance(part, Mapping) and part.get("type") == "tool_result":
            steps.append(Step("tool result", preview(part.get("content"), 1_000)))
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            steps.append(Step(role, preview(part["text"])))
        elif part is not None:
            steps.append(Step(role, preview(part)))
    for call in message.get("tool_calls") or ():
        function = call.get("function", call) if isinstance(call, Mapping) else {}
        if isinstance(function, Mapping):
            steps.append(_call(str(function.get("name", "")), function.get("arguments")))
    return steps


def _call(name: str, given: Json) -> Step:
    return Step(f"calls {name}", preview(given, 1_000))


def _span(span: Mapping[str, Json]) -> SpanView:
    about = []
    seconds = span.get("duration_s")
    if isinstance(seconds, int | float):
        about.append(f"{seconds:.3g} s")
    about += [str(span[name]) for name in ("status", "error") if span.get(name)]
    return SpanView(str(span.get("name", "span")), ", ".join(about), text_of(dict(span))[:PREVIEW])
