"""The contract of `ExperimentStore.paired_rows` and of the flips that are counted like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import pytest

from fairtrial.model.case import Case, CaseKey
from fairtrial.model.columns import ArmColumns, CaseLabels
from fairtrial.model.comparison import FlipCounts, Side
from fairtrial.model.errors import NotFoundError
from fairtrial.model.experiment import Experiment
from fairtrial.model.score import Score
from fairtrial.model.task import Tokens
from fairtrial.model.trial import MAIN_ARM, Trial, TrialKey
from fairtrial.model.verdict import Cause
from fairtrial.testing.store.facts import NOON, Store, a_trial, an_experiment


def _opened(store: Store, number: int, trials: Sequence[Trial], **changes: object) -> Experiment:
    experiment = an_experiment(number, **changes)
    store.experiments.open_experiment(experiment, range(4))
    store.experiments.record(experiment.id, trials, NOON)
    return experiment


def _row(arm: ArmColumns, case_id: str) -> dict[str, object]:
    place = arm.case_ids.index(case_id)
    names = ("passed", "failed", "undecided", "scores", "durations", "costs", "tokens", "reasons")
    return {name: getattr(arm, name)[place] for name in names}


class PairedRowsContract:
    """Subclass it in a test module, name the class `Test…`, and override `store`."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """Give an empty store."""
        raise NotImplementedError

    def test_rows_are_joined_by_case_and_condition(self, store: Store) -> None:
        """Neither the order of the rows nor of the trials matters."""
        attack = TrialKey("x", "attack", MAIN_ARM, 1)
        first = [a_trial("x"), a_trial("gone"), replace(a_trial("x"), key=attack), a_trial("y")]
        second = [a_trial("y"), a_trial("x"), a_trial("new")]
        a, b = _opened(store, 1, first), _opened(store, 2, second)
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        pairs = [
            (found.a.case_ids[i], found.b.case_ids[j], found.a.conditions[i], found.b.conditions[j])
            for i, j in zip(*found.pairs, strict=True)
        ]
        assert sorted(pairs) == [("x", "x", "default", "default"), ("y", "y", "default", "default")]
        only_a = {(found.a.case_ids[place], found.a.conditions[place]) for place in found.only_a}
        assert only_a == {("gone", "default"), ("x", "attack")}
        assert [found.b.case_ids[place] for place in found.only_b] == ["new"]
        assert (found.a.n, found.b.n) == (4, 3)

    def test_trials_fold_within_their_row(self, store: Store) -> None:
        """Means are over those trials that have a value; what nobody told is None."""
        trials = [
            a_trial("c", 1, duration_s=1.0, cost_usd=0.5, tokens=Tokens(input=10, output=2)),
            a_trial("c", 2, "failed", duration_s=None, cost_usd=1.5),
            a_trial("c", 3, "undecided", duration_s=3.0),
            a_trial("quiet", 1, "undecided", cause=Cause.INFRA, duration_s=None),
        ]
        a, b = _opened(store, 1, trials), _opened(store, 2, [])
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM)).a
        assert _row(found, "c") == {
            "passed": 1,
            "failed": 1,
            "undecided": 1,
            "scores": 0.5,
            "durations": 2.0,
            "costs": 1.0,
            "tokens": 12.0,
            "reasons": "c 2 failed",
        }
        quiet = _row(found, "quiet")
        untold = ("scores", "durations", "costs", "tokens")
        assert [quiet[name] for name in untold] == [None] * len(untold)
        assert found.causes == {Cause.GRADER: 1, Cause.INFRA: 1}

    @pytest.mark.parametrize("names", [("exact",), ("exact", "style")])
    def test_each_grader_has_a_mean_a_row(self, store: Store, names: Sequence[str]) -> None:
        """A row that a grader never scored is not there; ranges are over all its scores."""

        def scored(case_id: str, number: int, values: Sequence[float | None]) -> Trial:
            scores = tuple(
                Score(name, value, None if value is None else value > 0.5)
                for name, value in zip(names, values, strict=False)
            )
            main = None if None in values[: len(names)] else sum(filter(None, values)) / len(names)
            if len(names) == 1:
                main = values[0]
            return a_trial(case_id, number, scores=scores, score=main)

        trials = [
            scored("c", 1, [1.0, 0.25]),
            scored("c", 2, [0.0, 0.75]),
            scored("d", 1, [1.0, None]),
            scored("e", 1, [None, -2.0]),
        ]
        spec = {"graders": [{"name": name} for name in names]}
        a, b = _opened(store, 1, trials, spec=spec), _opened(store, 2, [], spec=spec)
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        exact = found.a.graders["exact"]
        means = {
            found.a.case_ids[row]: mean for row, mean in zip(exact.rows, exact.means, strict=True)
        }
        assert means == {"c": 0.5, "d": 1.0}
        assert (exact.n, exact.lowest, exact.highest, exact.binary) == (3, 0.0, 1.0, True)
        assert list(found.b.graders) == list(names)
        assert (list(found.b.graders["exact"].rows), found.b.graders["exact"].n) == ([], 0)
        if "style" in names:
            style = found.a.graders["style"]
            assert sorted(style.means) == [-2.0, 0.5]
            assert (style.n, style.lowest, style.highest, style.binary) == (3, -2.0, 0.75, False)

    def test_a_grader_that_does_not_weigh_has_its_own_mean(self, store: Store) -> None:
        """The main score of a row is not that of a grader of weight 0."""
        score = Score("exact", 1.0, passed=True, weight=0.0)
        spec = {"graders": [{"name": "exact"}]}
        trial = a_trial("c", scores=(score,), score=None)
        a, b = _opened(store, 1, [trial], spec=spec), _opened(store, 2, [trial], spec=spec)
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        assert list(found.a.graders["exact"].means) == [1.0]

    def test_arms_of_one_experiment_are_told_apart(self, store: Store) -> None:
        """Rows, scores and causes are those of the arm."""

        def of(arm: str, case_id: str, verdict: str) -> Trial:
            return a_trial(case_id, 1, verdict, key=TrialKey(case_id, "default", arm, 1))

        trials = []
        for case_id in ("a", "b", "c"):
            trials += [of(MAIN_ARM, case_id, "failed"), of("candidate", case_id, "passed")]
        trials.append(of("candidate", "d", "undecided"))
        experiment = _opened(store, 1, trials)
        sides = ((experiment.id, MAIN_ARM), (experiment.id, "candidate"))
        found = store.experiments.paired_rows(*sides)
        assert len(found.pairs[0]) == 3
        assert (list(found.a.failed), sum(found.b.passed)) == ([1, 1, 1], 3)
        assert (found.a.causes, found.b.causes) == ({}, {Cause.GRADER: 1})
        assert list(found.a.graders["exact"].means) == [0.0] * 3
        assert list(found.b.graders["exact"].means) == [1.0] * 3
        back = store.experiments.paired_rows(*sides[::-1])
        assert (back.pairs, back.only_a) == (found.pairs[::-1], found.only_b)

    def test_conditions_of_one_case_are_told_apart(self, store: Store) -> None:
        """A row is a case under a condition: one side may lack a condition, or have another."""

        def of(case_id: str, condition: str) -> Trial:
            return a_trial(case_id, 1, key=TrialKey(case_id, condition, MAIN_ARM, 1))

        a = _opened(store, 1, [of("c", "clean"), of("c", "attack"), of("d", "clean")])
        b = _opened(store, 2, [of("d", "attack"), of("c", "attack")])
        only = _opened(store, 3, [of("c", "attack")])
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        keys = [list(zip(arm.case_ids, arm.conditions, strict=True)) for arm in (found.a, found.b)]
        for arm, places in enumerate(found.pairs):
            assert [keys[arm][place] for place in places] == [("c", "attack")]
        assert sorted(keys[0][place] for place in found.only_a) == [("c", "clean"), ("d", "clean")]
        assert [keys[1][place] for place in found.only_b] == [("d", "attack")]
        other = store.experiments.paired_rows((only.id, MAIN_ARM), (b.id, MAIN_ARM))
        assert (len(other.pairs[0]), len(other.only_a), len(other.only_b)) == (1, 0, 1)

    def test_rows_that_lie_far_apart_are_found(self, store: Store) -> None:
        """An experiment that was resumed much later has others' rows between its own."""
        early = _opened(store, 1, [a_trial("first")])
        others = _opened(store, 2, [a_trial(f"c{number}") for number in range(20)])
        store.experiments.record(early.id, [a_trial("last", 1, "failed")], NOON)
        found = store.experiments.paired_rows((early.id, MAIN_ARM), (others.id, MAIN_ARM))
        assert sorted(found.a.case_ids) == ["first", "last"]
        assert sorted(found.a.graders["exact"].means) == [0.0, 1.0]
        assert found.b.n == 20

    def test_flips_are_counted_as_the_rows_say(self, store: Store) -> None:
        """Solved is more than half of the decided trials; undecided or alone is left out."""

        def of(condition: str, *verdicts: str) -> list[Trial]:
            key = TrialKey("c", condition, MAIN_ARM, 1)
            return [
                a_trial("c", number, verdict, key=key._replace(trial=number))
                for number, verdict in enumerate(verdicts, 1)
            ]

        shapes = [(), *product(("passed", "failed", "undecided"), repeat=2)]
        both = {f"{a} {b}": (a, b) for a, b in product(shapes, shapes)}
        a, b = (
            _opened(store, number, [t for name, two in both.items() for t in of(name, *two[side])])
            for number, side in ((1, 0), (2, 1))
        )
        found = store.experiments.flip_counts((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        rows = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        changes = []
        for at_a, at_b in zip(*rows.pairs, strict=True):
            first, second = (
                Side(arm.passed[at], arm.passed[at] + arm.failed[at], 0, None)
                for arm, at in ((rows.a, at_a), (rows.b, at_b))
            )
            if first.decided and second.decided:
                changes.append((first.solved, second.solved))
        counts = (changes.count((False, True)), changes.count((True, False)), len(changes))
        assert (found.fixed, found.broken, found.compared) == counts
        assert found.fixed == found.broken > 0
        assert store.experiments.flip_counts((a.id, MAIN_ARM), (b.id, "none")) == FlipCounts(
            0, 0, 0
        )
        with pytest.raises(NotFoundError):
            store.experiments.flip_counts((a.id, MAIN_ARM), ("exp_none", MAIN_ARM))

    def test_flips_are_those_of_cases_that_did_not_change(self, store: Store) -> None:
        """A case with another content is another case."""
        cases = [Case("same", 1), Case("changed", 2), Case("gone", 3)]
        old, _ = store.datasets.add_version("bugs", cases)
        new, _ = store.datasets.add_version("bugs", [cases[0], Case("changed", "other")])
        a, b = (
            _opened(
                store,
                number,
                [a_trial(case_id, 1, verdict) for case_id in ("same", "changed")],
                dataset_number=version.number,
                dataset_digest=version.digest,
            )
            for number, version, verdict in ((1, old, "failed"), (2, new, "passed"))
        )
        sides = ((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        assert store.experiments.flip_counts(*sides) == FlipCounts(1, 0, 1)
        assert store.experiments.flip_counts(*sides[::-1]) == FlipCounts(0, 1, 1)

    def test_cases_bring_their_split_and_tags_and_whether_they_changed(self, store: Store) -> None:
        """Labels are those of B's version; a case without any is left out."""
        cases = [
            Case("same", 1, tags=("easy", "ä"), split="test"),
            Case("changed", 2),
            Case("plain", 3, split="train"),
        ]
        old, _ = store.datasets.add_version("bugs", cases)
        changed = replace(cases[1], input="other", tags=("hard",))
        new, _ = store.datasets.add_version("bugs", [cases[0], changed, Case("plain", 3)])
        ids = ("same", "changed", "plain")
        a, b = (
            _opened(
                store,
                number,
                [a_trial(case_id) for case_id in ids],
                dataset_number=version.number,
                dataset_digest=version.digest,
            )
            for number, version in ((1, old), (2, new))
        )
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, MAIN_ARM))
        assert found.changed == {CaseKey("changed"), CaseKey("plain")}
        assert found.labels == {
            CaseKey("same"): CaseLabels("test", ("easy", "ä")),
            CaseKey("changed"): CaseLabels(None, ("hard",)),
        }
        again = store.experiments.paired_rows((b.id, MAIN_ARM), (b.id, MAIN_ARM))
        assert again.changed == frozenset()

    def test_experiments_without_trials_have_no_rows(self, store: Store) -> None:
        """Nothing is nothing, not an error."""
        a, b = _opened(store, 1, []), _opened(store, 2, [])
        found = store.experiments.paired_rows((a.id, MAIN_ARM), (b.id, "no such arm"))
        assert (found.a.n, found.b.n, found.labels) == (0, 0, {})

    def test_an_unknown_experiment_is_not_found(self, store: Store) -> None:
        """The message names it."""
        a = _opened(store, 1, [])
        with pytest.raises(NotFoundError, match="exp_nowhere"):
            store.experiments.paired_rows((a.id, MAIN_ARM), ("exp_nowhere", MAIN_ARM))
