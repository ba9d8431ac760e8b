"""Sequential attempts: from options to what is stored, and back to what runs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from fairtrial.app.bench import Bench
from fairtrial.app.paths import user_path
from fairtrial.app.requests.exp_run import Design as Options
from fairtrial.app.requests.exp_run import Request
from fairtrial.app.settling import settled_graders
from fairtrial.app.spec_files import SUFFIXES, json_value, read_document
from fairtrial.engine.attempts import Attempting, History
from fairtrial.engine.feedback import Critic, Feedback, Reasons, bit
from fairtrial.engine.plan import Plan
from fairtrial.graders.grading import grade_all
from fairtrial.graders.registry import build_grader, compares, grader_spec, sees_expected
from fairtrial.model.errors import UsageError
from fairtrial.model.grader import GraderSpec
from fairtrial.model.json import Json
from fairtrial.ports import Grader, Surroundings

SEQ: Final = "seq"
CRITIC: Final = "critic"
_MODES: Final = ("bit", "reasons")
_HOW: Final = "give bit, reasons or critic=GRADER, e.g. critic=judge.json"


def seq_given(bench: Bench, request: Request) -> dict[str, Json]:
    """Return the design of sequential attempts that options ask for; empty without `--seq`.

    Raises:
        UsageError: options that need each other, or a critic that makes no sense.
    """
    options = request.design
    if options.seq is None:
        _check_alone(options)
        return {}
    if request.recording.record or request.recording.replay is not None:
        what = "--record" if request.recording.replay is None else "--replay"
        raise UsageError(
            f"--seq and {what} cannot be combined",
            why="a recording holds one attempt a trial",
            fix="leave one of them out",
        )
    given = "reasons" if options.feedback is None else options.feedback
    mode, critic = _feedback(bench, request, given)
    return {
        "kind": SEQ,
        "attempts": options.seq,
        "feedback": mode,
        "history": options.seq_history or "full",
        **({CRITIC: critic.content()} if critic is not None else {}),
    }


def _check_alone(options: Options) -> None:
    stray = {"--feedback": options.feedback, "--seq-history": options.seq_history}
    for flag, value in stray.items():
        if value is not None:
            raise UsageError(f"{flag} has no effect without --seq", fix="add --seq K")


def _feedback(
    bench: Bench, request: Request, given: str | Mapping[str, Any]
) -> tuple[str, GraderSpec | None]:
    where = f"{request.spec}: feedback" if request.spec else "--feedback"
    if isinstance(given, Mapping):
        if set(given) != {CRITIC}:
            raise UsageError("an object of feedback has one key, 'critic'", where=where, fix=_HOW)
        return CRITIC, _critic(bench, request, given[CRITIC], where)
    mode, equals, text = given.partition("=")
    if given in _MODES:
        return given, None
    if mode != CRITIC or not equals or not text.strip():
        raise UsageError(f"{given!r} is no feedback", where=where, fix=_HOW)
    return CRITIC, _critic(bench, request, text.strip(), where)


def _critic(bench: Bench, request: Request, given: Any, where: str) -> GraderSpec:
    folder = bench.cwd if request.spec is None else request.spec.parent
    spec = grader_spec(_document(given, folder, where), where)
    if compares(spec):
        raise UsageError(
            f"a critic of kind {spec.kind} could only say the expected answer",
            where=where,
            why="a critic never knows what is expected",
            fix="give one that judges without it: judge, command, python, json_schema",
        )
    (settled,) = settled_graders(bench, [spec], folder, where)
    return settled


def _document(given: Any, folder: Path, where: str) -> Any:
    """Return a grader from JSON text, a file or the name of a kind."""
    if not isinstance(given, str):
        return given
    if given.startswith("{"):
        try:
            return json_value(given)
        except (RecursionError, ValueError) as error:
            raise UsageError(f"not JSON: {error}", where=where) from None
    if Path(given).suffix in SUFFIXES:
        return read_document(user_path(given, folder))
    return given


def critic_of(plan: Plan) -> GraderSpec | None:
    """Return the grader that tells further attempts what was wrong; None for none."""
    stored = plan.design.get(CRITIC)
    return None if stored is None else grader_spec(stored, "the critic")


def attempting_of(
    plan: Plan, surroundings: Surroundings
) -> tuple[Attempting | None, tuple[Grader, ...]]:
    """Return how the trials of a plan are tried again, and a grader that is to be opened for it.

    Raises:
        UsageError: the critic cannot be built.
    """
    if plan.design.get("kind") != SEQ:
        return None, ()
    spec = critic_of(plan)
    critics = () if spec is None else (build_grader(spec, surroundings, "the critic"),)
    feedback: Feedback
    if critics:
        feedback = Critic(functools.partial(grade_all, critics))
    elif plan.design["feedback"] == "bit":
        feedback = bit
    else:
        feedback = Reasons(
            comparing=[grader.name for grader in plan.graders if compares(grader)],
            knowing=[grader.name for grader in plan.graders if sees_expected(grader)],
        )
    history = cast("History", plan.design["history"])
    return Attempting(plan.design["attempts"], feedback, history), critics
