"""From options to a design that is stored with an experiment, and back to one that runs."""

from __future__ import annotations

from pathlib import Path

from fairtrial.app.attempting import seq_given
from fairtrial.app.bench import Bench
from fairtrial.app.regression_baseline import baseline_given, check_held, held_to
from fairtrial.app.requests.exp_run import Request
from fairtrial.engine.attempts import Confirming
from fairtrial.engine.designs.adaptive import MOST_TRIALS, Adaptive
from fairtrial.engine.designs.early_stopping import EarlyStopping
from fairtrial.engine.designs.halving import Halving
from fairtrial.engine.designs.regression import StopOnRegression
from fairtrial.engine.plan import Plan
from fairtrial.engine.stages import Design, Outcomes, outcome_of
from fairtrial.model.errors import UsageError
from fairtrial.model.experiment import ExperimentState
from fairtrial.model.json import Json
from fairtrial.model.trial import TrialKey
from fairtrial.stats.halving import halving_plan

LOOKS = 4
EARLY, ADAPTIVE, REGRESSION = "early-stopping", "adaptive", "stop-on-regression"
HALVING = "halving"
STAGED = frozenset({EARLY, ADAPTIVE, REGRESSION, HALVING})
"""Designs that choose trials by earlier outcomes, so that a run may end before its plan does."""


def design_given(bench: Bench, request: Request, n_arms: int) -> dict[str, Json]:
    """Return the design that options ask for, as JSON; empty for a plain run.

    Raises:
        UsageError: options that need each other, or exclude each other.
        NotFoundError: there is no such baseline.
    """
    options = request.design
    _check(request)
    seq = seq_given(bench, request)
    if seq:
        return seq
    if options.stop_early:
        if n_arms != 2:
            raise UsageError(
                "--stop-early compares two arms",
                fix="give them: --arm base=base.json --arm cand=cand.json",
            )
        return {"kind": EARLY, "looks": options.looks or LOOKS}
    if options.samples == ADAPTIVE:
        if request.trials != 1:
            fix = "leave --trials out: there are two, and a third where they disagree"
            raise UsageError("--samples adaptive decides how many trials a case has", fix=fix)
        return {"kind": ADAPTIVE}
    if options.stop_on_regression:
        if n_arms != 1:
            raise UsageError(
                "--stop-on-regression holds one arm to a stored baseline",
                why=f"this run has {n_arms} arms, which are compared with each other",
                fix="give the one --task that must not regress",
            )
        return {"kind": REGRESSION, **baseline_given(bench, options.baseline or "")}
    return {}


def _check(request: Request) -> None:
    options = request.design
    chosen = {
        "--seq": options.seq is not None,
        "--stop-early": options.stop_early,
        "--samples adaptive": options.samples == ADAPTIVE,
        "--stop-on-regression": options.stop_on_regression,
    }
    given = [flag for flag, there in chosen.items() if there]
    if len(given) > 1:
        raise UsageError(
            f"{given[0]} and {given[1]} cannot be combined",
            why="each of them decides which trials are run, or run again",
            fix="leave one of them out",
        )
    if options.looks is not None and not options.stop_early:
        raise UsageError("--looks has no effect without --stop-early", fix="add --stop-early")
    if options.stop_on_regression and request.recording.record:
        raise UsageError(
            "--record and --stop-on-regression cannot be combined",
            why="a recording holds one run of a trial, and a suspected regression is run again",
            fix="leave one of them out",
        )
    if options.stop_on_regression and not options.baseline:
        raise UsageError(
            "--stop-on-regression needs something to hold the run to",
            fix="name it: --baseline EXPERIMENT",
        )
    if options.baseline and not options.stop_on_regression:
        raise UsageError(
            "--baseline has no effect without --stop-on-regression",
            fix="add it; to compare when the run is done: fairtrial exp compare BASELINE RUN",
        )


def check_design(bench: Bench, plan: Plan, folder: Path) -> None:
    """Refuse a design that can do nothing with the cases of a plan.

    Args:
        bench: The workbench.
        plan: The plan.
        folder: Where its relative paths start.

    Raises:
        UsageError: no look could stop the run, or no case could regress.
    """
    kind = plan.design.get("kind")
    if kind == REGRESSION:
        check_held(bench, plan, folder)
    if kind == EARLY and not EarlyStopping(plan, plan.design["looks"]).may_stop:
        from fairtrial.analysis.stopping.early import FEWEST_CASES  # noqa: PLC0415  # numpy

        least = 2 * FEWEST_CASES - 1
        raise UsageError(
            f"--stop-early cannot stop a run of {len(plan.cases):,} cases",
            why=f"a look needs {FEWEST_CASES} cases, and at none before the last there are so many",
            fix=f"give fewer --looks (2 need {least} cases), or run more cases, or leave it out",
        )


def most_trials(design: dict[str, Json], trials: int) -> int:
    """Return how many trials a case can have under a design."""
    return MOST_TRIALS if design.get("kind") == ADAPTIVE else trials


def design_of(bench: Bench, plan: Plan) -> Design | None:
    """Return the design of a plan, ready to run; None for a plain run.

    Raises:
        NotFoundError: its baseline is gone.
    """
    told = plan.design
    match told.get("kind"):
        case "early-stopping":
            return EarlyStopping(plan, told["looks"])
        case "adaptive":
            return Adaptive(plan)
        case "stop-on-regression":
            return StopOnRegression(plan, held_to(bench, plan))
        case "halving":
            return Halving(plan, halving_plan(len(plan.arms), told["budget"]))
        case _:
            return None


def confirming_of(design: Design | None) -> Confirming | None:
    """Return which failures are run again to make sure; None when none are."""
    if not isinstance(design, StopOnRegression):
        return None
    from fairtrial.analysis.stopping.regression import CONFIRMATIONS  # noqa: PLC0415  # rarely

    return Confirming(CONFIRMATIONS, design.solved.__contains__)


def known_outcomes(
    bench: Bench, state: ExperimentState | None, kept: frozenset[TrialKey]
) -> Outcomes:
    """Return what a design is to know of the trials that are kept."""
    if state is None or not kept:
        return {}
    trials = bench.store.experiments.trials(state.experiment.id)
    return {trial.key: outcome_of(trial) for trial in trials if trial.key in kept}


def played(design: Design, outcomes: Outcomes) -> str | None:
    """Let a design look at the outcomes of a finished run; return why it ended early.

    Its own record of looks, rounds or regressions is filled in by that.
    """
    stages = design(outcomes)
    while True:
        try:
            next(stages)
        except StopIteration as end:
            reason: str | None = end.value
            return reason
