"""Whether two experiments measured the same thing, and if not, what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairtrial.model.columns import ArmColumns, PairedRows
from fairtrial.model.comparison import Problem
from fairtrial.model.experiment import ExperimentState, Status
from fairtrial.model.json import Json, content_hash
from fairtrial.model.verdict import Cause
from fairtrial.stats.selection import failing_subset_gain

_MUCH_LOST = 0.05
_SCRIPT = "script digest"


@dataclass(frozen=True, slots=True)
class Input:
    """One side to compare.

    Attributes:
        state: The experiment.
        arm: Its arm.
        label: What to call it.
    """

    state: ExperimentState
    arm: str
    label: str

    @property
    def partial(self) -> bool:
        """Whether planned trials are missing."""
        return self.state.status is not Status.FINISHED


@dataclass(frozen=True, slots=True)
class Comparability:
    """What can be compared.

    Attributes:
        blocking: Why no row can be compared; empty when rows can.
        warnings: What to beware of.
        graders: Graders that mean the same on both sides.
        scores: Whether main scores mean the same.
        selection: Set when one side ran only what the other failed, or in a race.
        partial: Why a side is not whole; empty when both finished.
        unjudged: Which side says nothing about quality; empty when both do.
        raced: Whether a race chose a side by these very trials.
    """

    blocking: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    graders: tuple[str, ...]
    scores: bool
    selection: Problem | None
    partial: tuple[Problem, ...] = ()
    unjudged: tuple[Problem, ...] = ()
    raced: bool = False

    @property
    def why_blocked(self) -> str | None:
        """Why no row can be compared, in one line."""
        return "; ".join(problem.what for problem in self.blocking) or None


def comparability(a: Input, b: Input, rows: PairedRows, *, force: bool) -> Comparability:
    """Return what can be compared of two experiments.

    Args:
        a: The baseline.
        b: The candidate.
        rows: Their rows.
        force: Compare what there is of an unfinished experiment.
    """
    shared = len(rows.pairs[0])
    partial = [_unfinished(side) for side in (a, b) if side.partial]
    limits = _time_limits(a, b)
    graders, differing = _graders(a, b)
    blocking = [*([] if force else partial), *limits, *differing]
    blocked = tuple(Problem(p.what, shared, p.fix) for p in blocking)
    selection = _selection(a, b, shared)
    unjudged = tuple(_unjudged(side) for side in (a, b) if _always_crashed(side))
    warnings = [
        *unjudged,
        *(partial if force else []),
        *([selection] if selection else []),
        *_lost(a, b, rows),
        *_stopped_early(a, b),
        *_sampled_adaptively(a, b),
    ]
    if shared == 0:
        warnings.append(_nothing_shared(a, b))
    if rows.changed:
        warnings.append(
            Problem(
                "cases with the same id have another content in the two dataset versions",
                len(rows.changed),
                "run both on the same version",
            )
        )
    before, after = _specs(a, b)
    same_scores = all(before.get(name) == after.get(name) for name in {**before, **after})
    return Comparability(
        blocked,
        tuple(warnings),
        graders,
        same_scores,
        selection,
        tuple(partial),
        unjudged,
        raced=_is_race(a) or _is_race(b),
    )


def _stopped_early(a: Input, b: Input) -> Sequence[Problem]:
    """Return a problem where a run ended at a look because of the difference that it saw."""
    states = {side.state.experiment.id: side.state for side in (a, b)}
    return [
        Problem(
            f"{state.experiment.name} stopped early because of what it had seen: this difference "
            "is too large on average, and its interval holds less often than it says",
            fix="read the adjusted estimate and interval: fairtrial exp show "
            f"{state.experiment.id}",
        )
        for state in states.values()
        if state.experiment.spec.get("design", {}).get("kind") == "early-stopping"
        and state.status is Status.FINISHED
        and state.status_reason is not None
    ]


def _sampled_adaptively(a: Input, b: Input) -> Sequence[Problem]:
    """Return a problem where a third trial was run only because two disagreed."""
    states = {side.state.experiment.id: side.state for side in (a, b)}
    return [
        Problem(
            f"{state.experiment.name} sampled adaptively: with a third trial only where two "
            "disagreed, shares of trials and their interval are biased",
            fix="run both with the same fixed number of trials to compare them",
        )
        for state in states.values()
        if state.experiment.spec.get("design", {}).get("kind") == "adaptive"
    ]


def _always_crashed(side: Input) -> bool:
    totals = side.state.totals
    return 0 < totals.decided == totals.causes.get(Cause.TASK, 0)


def _unjudged(side: Input) -> Problem:
    return Problem(
        f"no grader judged any output of {side.label}: its task failed in every trial",
        fix=f"see how, and mend it: fairtrial exp show {side.state.experiment.id}",
    )


def why_no_flips(a: Input, b: Input) -> str | None:
    """Return why it says nothing to count what B fixed and broke; None when it says something.

    What is wrong with single rows, such as another content, is not in it.
    """
    partial = [_unfinished(side) for side in (a, b) if side.partial]
    problems = [*partial, *_time_limits(a, b), *_graders(a, b)[1]]
    whats = [problem.what for problem in problems]
    chosen = _chosen_and_chooser(a, b)
    if chosen is not None:
        whats.append(_only_failed(*chosen))
    whats += [_by_these_trials(side) for side in (a, b) if _is_race(side)][:1]
    return "; ".join(whats) or None


def _unfinished(side: Input) -> Problem:
    experiment, totals = side.state.experiment, side.state.totals
    whole = f"finish it: fairtrial exp run --resume {experiment.id}"
    if experiment.regrade_of is not None:  # it runs no task, so there is nothing to resume
        whole = f"finish {experiment.regrade_of}, and regrade that"
    elif experiment.is_reported:  # another program ran it
        whole = "report all of it anew"
    stands = side.state.standing if side.state.died else f"is {side.state.status.value}"
    return Problem(
        f"{side.label} {stands}: {totals.recorded:,} of "
        f"{experiment.n_planned:,} trials are on record",
        fix=f"{whole}, or compare what there is with --force",
    )


def _time_limits(a: Input, b: Input) -> Sequence[Problem]:
    limits = [side.state.experiment.policy.get("trial_timeout") for side in (a, b)]
    if limits[0] == limits[1]:
        return ()
    texts = ["none" if limit is None else f"{limit:g} s" for limit in limits]
    return (
        Problem(
            f"other time limit: {texts[0]} in {a.label}, {texts[1]} in {b.label}",
            fix="run both with the same --trial-timeout",
        ),
    )


_MODEL_KEYS = frozenset({"model", "provider", "judges"})
_LONGEST_SHOWN = 80
_Specs = Mapping[str, Mapping[str, Json]]


def _specs(a: Input, b: Input) -> tuple[_Specs, _Specs]:
    return _grader_specs(a.state.experiment.spec, b.state.experiment.spec)


def _grader_specs(a: Mapping[str, Json], b: Mapping[str, Json]) -> tuple[_Specs, _Specs]:
    """Return the graders of both sides, with the digest of the file they run where both have it."""
    scripts = [spec.get("grader_scripts") or {} for spec in (a, b)]
    known = set(scripts[0]) & set(scripts[1])
    before, after = (
        {
            str(grader["name"]): {**grader, _SCRIPT: digests[grader["name"]]}
            if grader["name"] in known
            else grader
            for grader in spec.get("graders") or ()
            if "name" in grader
        }
        for spec, digests in zip((a, b), scripts, strict=True)
    )
    return before, after


def _graders(a: Input, b: Input) -> tuple[tuple[str, ...], Sequence[Problem]]:
    """Return the graders that are alike, and a problem for each that decides and is not."""
    before, after = _specs(a, b)
    alike = tuple(name for name in {**before, **after} if before.get(name) == after.get(name))
    specs = (a.state.experiment.spec, b.state.experiment.spec)
    return alike, other_graders(*specs, (a.label, b.label))


def other_graders(
    a: Mapping[str, Json], b: Mapping[str, Json], labels: tuple[str, str]
) -> Sequence[Problem]:
    """Return a problem for each grader that decides and is not the same on both sides.

    Args:
        a: What is stored of the baseline: its `graders`, and `grader_scripts` if it has some.
        b: The same of the candidate.
        labels: What the two are called.
    """
    before, after = _grader_specs(a, b)
    problems = []
    for name in {**before, **after}:
        old, new = before.get(name), after.get(name)
        decides = any(spec.get("required", True) for spec in (old, new) if spec is not None)
        if old != new and decides:
            problems.append(_other_grader(name, old, new, labels))
    return problems


def _other_grader(
    name: str,
    old: Mapping[str, Json] | None,
    new: Mapping[str, Json] | None,
    labels: tuple[str, str],
) -> Problem:
    fix = "grade both with the same graders"
    if old is None or new is None:
        there, missing = (labels[1], labels[0]) if old is None else labels
        return Problem(f"other graders: {name} is in {there} and not in {missing}", fix=fix)
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    what = "judge model" if _MODEL_KEYS.intersection(keys) else "grader version"
    if keys == [_SCRIPT]:
        return Problem(f"other grader version: the file of grader {name} was changed", fix=fix)
    changes = ", ".join(f"{key} {_shown(old.get(key))} → {_shown(new.get(key))}" for key in keys)
    return Problem(f"other {what}: grader {name} has {changes}", fix=fix)


def _shown(value: Json) -> str:
    """Return a value, or the first digits of its hash when it is long: a rubric, say."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"#{content_hash(value)[:8]}"


def _selection(a: Input, b: Input, shared: int) -> Problem | None:
    found = _chosen_and_chooser(a, b)
    if found is not None:
        return _regression_to_the_mean(*found, shared)
    raced = next((side for side in (a, b) if _is_race(side)), None)
    if raced is None:
        return None
    return Problem(
        f"{_by_these_trials(raced)}: a gap in it is flattered by the choice",
        fix="compare on cases that nobody raced on, as exp sweep does when its race is over",
    )


def _is_race(side: Input) -> bool:
    kind: object = side.state.experiment.spec.get("design", {}).get("kind")
    return kind == "halving"


def _by_these_trials(side: Input) -> str:
    return f"{side.label} ran in a race, which chose who stays by these very trials"


def _chosen_and_chooser(a: Input, b: Input) -> tuple[Input, Input] | None:
    for chosen, chooser in ((b, a), (a, b)):
        experiment = chooser.state.experiment
        # A regrade holds the very outputs of its origin.
        outputs_of = {experiment.id, experiment.spec.get("regrade_of")} - {None}
        if chosen.state.experiment.spec.get("failing") in outputs_of:
            return chosen, chooser
    return None


def _only_failed(chosen: Input, chooser: Input) -> str:
    return f"{chosen.label} ran only the cases that {chooser.label} failed"


def _regression_to_the_mean(chosen: Input, chooser: Input, shared: int) -> Problem:
    trials = chooser.state.experiment.trials
    # Pass chances that mostly sit near 0 and 1, and ones that are spread out more.
    low, high = (failing_subset_gain(shape, shape, trials).estimate for shape in (0.1, 0.5))
    return Problem(
        f"{_only_failed(chosen, chooser)}: with no change at all, "
        f"about {100 * low:.0f} to {100 * high:.0f} % of them would pass by luck "
        f"({low * shared:,.0f} to {high * shared:,.0f} of {shared:,})",
        fix=f"run {chooser.label} on the same cases again, and compare with that run",
    )


def _lost(a: Input, b: Input, rows: PairedRows) -> Sequence[Problem]:
    shares = (lost_share(rows.a), lost_share(rows.b))
    found = [
        Problem(
            f"{100 * share:.0f} % of the trials of {side.label} have no verdict, "
            "and what is lost may not be lost at random"
        )
        for side, share in zip((a, b), shares, strict=True)
        if share is not None and share > _MUCH_LOST
    ]
    if None not in shares and abs((shares[0] or 0.0) - (shares[1] or 0.0)) > _MUCH_LOST:
        found.append(Problem(f"{a.label} and {b.label} lost different shares of their trials"))
    return found


def lost_share(arm: ArmColumns) -> float | None:
    """Return the share of an arm's trials without a verdict; None without trials."""
    lost = sum(arm.undecided)
    total = sum(arm.passed) + sum(arm.failed) + lost
    return lost / total if total else None


def _nothing_shared(a: Input, b: Input) -> Problem:
    datasets = [side.state.experiment.on_dataset for side in (a, b)]
    where = datasets[0] if datasets[0] == datasets[1] else " and ".join(datasets)
    return Problem(
        f"{a.label} and {b.label} share no case ({where})",
        fix="run both on the same dataset and selection",
    )
