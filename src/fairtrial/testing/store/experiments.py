"""The contract of an `ExperimentStore`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairtrial.model.attempt import Attempt, Rerun
from fairtrial.model.case import CaseKey
from fairtrial.model.errors import NotFoundError, StoreError
from fairtrial.model.experiment import (
    Experiment,
    ExperimentState,
    GraderTotals,
    Status,
    Totals,
)
from fairtrial.model.json import Json
from fairtrial.model.replay import ReplayNote
from fairtrial.model.row import Row
from fairtrial.model.score import Score
from fairtrial.model.task import ProcessUsage, Reused, Tokens
from fairtrial.model.trial import MAIN_ARM, Copied, Trial, TrialKey
from fairtrial.model.verdict import Cause, Verdict
from fairtrial.ports import RowQuery, TrialFilter
from fairtrial.testing.store.facts import (
    NOON,
    Store,
    a_trial,
    an_experiment,
    assert_aggregates,
    rows_of,
)
from fairtrial.testing.store.strategies import any_trial


class ExperimentStoreContract:
    """Subclass it in a test module, name the class `Test…`, and override `store`."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """Give an empty store."""
        raise NotImplementedError

    @pytest.fixture
    def experiment(self, store: Store) -> Experiment:
        """Give an experiment that is open in the store."""
        experiment = an_experiment()
        store.experiments.open_experiment(experiment, range(4))
        return experiment

    def test_an_experiment_comes_back_as_it_went_in(
        self, store: Store, experiment: Experiment
    ) -> None:
        """A new one is running, alive and without trials."""
        assert store.experiments.find(experiment.id) == ExperimentState(
            experiment=experiment,
            status=Status.RUNNING,
            status_reason=None,
            totals=Totals(),
            heartbeat_at=experiment.created_at,
            finished_at=None,
            alive=True,
        )

    def test_rounds_of_a_series_are_listed_newest_first(
        self, store: Store, experiment: Experiment
    ) -> None:
        """An experiment without a series is in none."""
        rounds = [an_experiment(n, series="loop") for n in (2, 3)]
        for one in (*rounds, an_experiment(4, series="other")):
            store.experiments.open_experiment(one, [0])
        found = store.experiments.newest(10, series="loop")
        assert [state.experiment for state in found] == rounds[::-1]
        assert store.experiments.find(experiment.id).experiment.series is None

    def test_each_configuration_of_a_dataset_counts_once(self, store: Store) -> None:
        """Whatever the version, the arm's name, or the experiment; a regrade tries nothing."""
        tasks = [{"kind": "command", "command": [word]} for word in ("a", "b", "c")]
        specs: list[dict[str, Json]] = [
            {"arms": {"main": tasks[0]}},
            {"arms": {"base": tasks[0], "cand": tasks[1]}},
            {"arms": {"main": tasks[2]}, "regrade_of": "exp_1"},
            {"arms": {"main": tasks[0]}, "task_scripts": {"main": "edited"}},
        ]
        for n, spec in enumerate(specs):
            opened = an_experiment(n, spec=spec, dataset_number=n)
            store.experiments.open_experiment(opened, [0])
        assert store.experiments.n_tried("bugs") == 3
        assert store.experiments.n_tried("others") == 0

    def test_an_id_is_given_once(self, store: Store, experiment: Experiment) -> None:
        """A second experiment of the same id is refused."""
        with pytest.raises(StoreError, match="already"):
            store.experiments.open_experiment(experiment, [])

    @pytest.mark.parametrize(
        "positions", [[], [5], list(range(100_000)), [7, 3, 99_999, 0], [2**31 - 1, 0]]
    )
    def test_positions_come_back(self, store: Store, positions: Sequence[int]) -> None:
        """They keep their order."""
        experiment = an_experiment(2)
        store.experiments.open_experiment(experiment, positions)
        assert store.experiments.positions(experiment.id) == positions

    def test_closing_says_how_it_ended(self, store: Store, experiment: Experiment) -> None:
        """Status, reason and time are kept; nobody is at it any more."""
        later = NOON + timedelta(minutes=5)
        store.experiments.close_experiment(experiment.id, Status.STOPPED, "5 × rate limit", later)
        state = store.experiments.find(experiment.id)
        assert (state.status, state.status_reason) == (Status.STOPPED, "5 × rate limit")
        assert (state.finished_at, state.heartbeat_at, state.alive) == (later, later, False)

    def test_reopening_goes_on(self, store: Store, experiment: Experiment) -> None:
        """It runs again under a new policy, and keeps its trials."""
        store.experiments.record(experiment.id, [a_trial()], NOON)
        store.experiments.close_experiment(experiment.id, Status.FINISHED, "x", NOON)
        later = NOON + timedelta(hours=1)
        store.experiments.reopen(experiment.id, {"concurrency": 1}, later)
        state = store.experiments.find(experiment.id)
        assert state.experiment == replace(experiment, policy={"concurrency": 1})
        assert (state.status, state.status_reason) == (Status.RUNNING, None)
        assert (state.finished_at, state.heartbeat_at, state.alive) == (None, later, True)
        assert state.totals.passed == 1

    def test_the_same_process_may_take_over(self, store: Store, experiment: Experiment) -> None:
        """A run that was cut off inside this process can be resumed by it."""
        store.experiments.reopen(experiment.id, {}, NOON)

    def test_what_is_not_there_is_said_to_be_missing(self, store: Store) -> None:
        """Every verb refuses an unknown id."""
        kept = store.experiments
        for verb in (
            lambda: kept.record("exp_none", [a_trial()], NOON),
            lambda: kept.reopen("exp_none", {}, NOON),
            lambda: kept.close_experiment("exp_none", Status.FINISHED, None, NOON),
            lambda: kept.positions("exp_none"),
            lambda: kept.recorded_keys("exp_none"),
            lambda: kept.grader_totals("exp_none"),
            lambda: kept.outcome_counts("exp_none"),
            lambda: kept.rows("exp_none", RowQuery()),
            lambda: kept.n_rows("exp_none", RowQuery()),
            lambda: kept.trials("exp_none"),
        ):
            with pytest.raises(NotFoundError, match="exp_none"):
                verb()

    def test_a_trial_comes_back_as_it_went_in(self, store: Store, experiment: Experiment) -> None:
        """All fields survive."""
        trial = a_trial(
            "naïve ☃",
            verdict="undecided",
            cause=Cause.GRADER,
            scores=(
                Score("judge", 0.25, passed=False, reason="☃", required=False, weight=0.5),
                Score("exact", None, None, "crashed", cost_usd=None, detail=[1, {"a": "☃"}]),
                Score("late", 1.0, passed=True),
            ),
            output={"z": ["half a pair: \ud83d", 2**70, 1e300], "a": None},
            started_at=NOON + timedelta(microseconds=123_457),
            seed=2**64 - 1,
            cost_usd=0.0125,
            tokens=Tokens(input=10, output=0),
            metrics={"steps": 3.0},
            spans=({"name": "think", "ms": 5},),
            process=ProcessUsage(None, 9, 0.5, 1_000_000, "killed"),
            grading_cost_usd=0.5,
            reused=Reused("cache", 2, Tokens(input=4), None),
            replay=ReplayNote(recorded=3, served=2, live=1, diverged_at=3, why="changed"),
            attempts=(
                Attempt(1, Verdict.FAILED, Cause.TASK, "☃", None, {"a": 1}, "again", 0.5, None),
                Attempt(2, Verdict.PASSED, None, None, 1.0, "b", None, 0.25, 0.1, Tokens(1, 2)),
            ),
            reruns=(Rerun(Verdict.FAILED, "no", None), Rerun(Verdict.PASSED, None, 0.5)),
            copied=Copied("exp_earlier", "base", None),
        )
        store.experiments.record(experiment.id, [trial], NOON)
        assert list(store.experiments.trials(experiment.id)) == [trial]
        assert [total.grader for total in store.experiments.grader_totals(experiment.id)] == [
            "exact",
            "judge",
            "late",
        ]

    @pytest.mark.parametrize("graders", [None, [], ["exact"], [{"name": "last"}, {"kind": "x"}]])
    def test_graders_that_the_spec_does_not_name_come_last(
        self, store: Store, graders: Json
    ) -> None:
        """Their totals are kept all the same, in the order they were met."""
        experiment = an_experiment(2, spec={"graders": graders})
        store.experiments.open_experiment(experiment, [0])
        store.experiments.record(experiment.id, [a_trial(), a_trial("b")], NOON)
        named = [] if graders in (None, [], ["exact"]) else [GraderTotals("last", 0, 0, None, 0)]
        assert list(store.experiments.grader_totals(experiment.id)) == [
            *named,
            GraderTotals("exact", 2, 2, 1.0, 2),
        ]

    @pytest.mark.parametrize("size", [0, 8_000, 9_000, 100_000, 3_000_000])
    def test_an_output_of_any_size_comes_back(
        self, store: Store, experiment: Experiment, size: int
    ) -> None:
        """Also one that hardly shrinks."""
        text = "".join(f"{n * n:x}" for n in range(size // 8))
        store.experiments.record(experiment.id, [a_trial(output=text)], NOON)
        assert [trial.output for trial in store.experiments.trials(experiment.id)] == [text]

    def test_a_reason_may_hold_half_a_pair(self, store: Store, experiment: Experiment) -> None:
        """What UTF-8 cannot hold becomes a question mark."""
        scores = (Score("exact", 0.0, passed=False, reason="\udcff"),)
        trial = a_trial(verdict="failed", reason="bad \ud83d", scores=scores)
        store.experiments.record(experiment.id, [trial], NOON)
        (kept,) = store.experiments.trials(experiment.id)
        assert (kept.reason, kept.scores[0].reason) == ("bad ?", "?")
        assert store.experiments.rows(experiment.id, RowQuery())[0].first_reason == "bad ?"

    def test_recording_moves_the_heartbeat(self, store: Store, experiment: Experiment) -> None:
        """Also a batch without a trial does."""
        for seconds, trials in enumerate([[a_trial()], []], start=5):
            now = NOON + timedelta(seconds=seconds)
            store.experiments.record(experiment.id, trials, now)
            assert store.experiments.find(experiment.id).heartbeat_at == now

    def test_a_later_record_supersedes(self, store: Store, experiment: Experiment) -> None:
        """Every read gives the later one."""
        store.experiments.record(
            experiment.id, [a_trial(verdict="failed", cost_usd=1.0), a_trial(number=2)], NOON
        )
        assert store.experiments.find(experiment.id).totals.flaky_rows == 1
        again = a_trial(output="better")
        store.experiments.record(experiment.id, [again], NOON)
        assert_aggregates(store.experiments, experiment, [again, a_trial(number=2)])

    def test_a_key_may_be_in_a_batch_twice(self, store: Store, experiment: Experiment) -> None:
        """The later one counts."""
        last = a_trial(verdict="undecided")
        batch = [a_trial(), a_trial("b"), a_trial(verdict="failed"), a_trial("c"), last]
        store.experiments.record(experiment.id, batch, NOON)
        assert_aggregates(store.experiments, experiment, [last, a_trial("b"), a_trial("c")])

    def test_a_batch_is_stored_whole_or_not_at_all(
        self, store: Store, experiment: Experiment
    ) -> None:
        """A trial that cannot be stored takes its batch with it."""
        with pytest.raises(ValueError, match="trial number 0"):
            store.experiments.record(experiment.id, [a_trial(), a_trial("b", 0)], NOON)
        assert_aggregates(store.experiments, experiment, [])

    def test_a_huge_value_leaves_no_trace(self, store: Store, experiment: Experiment) -> None:
        """A superseded value takes the small ones in its sum with it, unless sums are mended."""
        small = [a_trial(f"{n}", cost_usd=0.1, duration_s=0.1) for n in range(3)]
        scores = (Score("exact", 1e200, passed=True),)
        huge = a_trial("x", cost_usd=1e200, duration_s=1e200, score=1e200, scores=scores)
        store.experiments.record(experiment.id, [*small, huge], NOON)
        last = a_trial("x", cost_usd=0.1)
        store.experiments.record(experiment.id, [last], NOON)
        assert_aggregates(store.experiments, experiment, [*small, last])

    @settings(
        max_examples=40,
        deadline=None,
        derandomize=True,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
    @given(batches=st.lists(st.lists(any_trial(), max_size=6), max_size=6))
    def test_aggregates_always_equal_a_recomputation(
        self, store: Store, batches: Sequence[Sequence[Trial]]
    ) -> None:
        """Whatever is recorded, in whatever batches, and again."""
        experiment = an_experiment(len(store.experiments.newest(10_000)) + 1)
        store.experiments.open_experiment(experiment, [0])
        last: dict[TrialKey, Trial] = {}
        for batch in batches:
            store.experiments.record(experiment.id, batch, NOON)
            last.update((trial.key, trial) for trial in batch)
        assert_aggregates(store.experiments, experiment, list(last.values()))

    def test_finding_by_id_prefix_and_name(self, store: Store) -> None:
        """An id, six characters and more of it with or without `exp_`, or the newest of a name."""
        early, late = an_experiment(1), an_experiment(32 * 32)
        for experiment in (early, late):
            store.experiments.open_experiment(experiment, [])
        for ref, wanted in {
            early.id: early,
            early.id[:-1]: early,
            early.id.removeprefix("exp_")[:10]: early,
            early.id[:-1].lower(): early,
            late.id[:9]: late,
            "nightly": late,
        }.items():
            assert store.experiments.find(ref).experiment == wanted, ref

    def test_a_prefix_that_fits_several_is_refused(self, store: Store) -> None:
        """The error lists them, at most five."""
        for number in range(1, 8):
            store.experiments.open_experiment(an_experiment(number), [])
        with pytest.raises(NotFoundError, match="fits several") as caught:
            store.experiments.find("exp_01J")
        assert an_experiment(7).id in (caught.value.why or "")
        assert an_experiment(2).id not in (caught.value.why or "")
        assert (caught.value.why or "").endswith("and more")
        store.experiments.open_experiment(an_experiment(1_000_000, name="exp_01J"), [])
        assert store.experiments.find("exp_01J").experiment.name == "exp_01J"

    def test_a_name_that_is_not_there_meets_the_nearest(
        self, store: Store, experiment: Experiment
    ) -> None:
        """The error suggests what was perhaps meant; five characters are no prefix."""
        with pytest.raises(NotFoundError) as caught:
            store.experiments.find("nightyl")
        assert "did you mean nightly?" in (caught.value.fix or "")
        with pytest.raises(NotFoundError, match="there is no experiment"):
            store.experiments.find(experiment.id[:5])

    def test_unfinished_ones_are_listed(self, store: Store) -> None:
        """Newest first, those of one identity when asked."""
        for number, status in enumerate([None, *Status], start=1):
            experiment = an_experiment(number, identity="odd" if number % 2 else "even")
            store.experiments.open_experiment(experiment, [])
            if status is not None:
                store.experiments.close_experiment(experiment.id, status, None, NOON)
        unfinished = store.experiments.unfinished()
        assert [state.experiment.id for state in unfinished] == [
            an_experiment(number).id for number in (5, 4, 2, 1)
        ]
        assert [state.experiment.id for state in store.experiments.unfinished("even")] == [
            an_experiment(number).id for number in (4, 2)
        ]

    def test_the_newest_are_listed_by_page(self, store: Store) -> None:
        """Pages neither overlap nor leave out."""
        for number in (3, 1, 5, 2, 4):
            store.experiments.open_experiment(an_experiment(number), [])
            store.experiments.record(an_experiment(number).id, [a_trial(verdict="undecided")], NOON)
        first = store.experiments.newest(2)
        assert [state.experiment for state in first] == [an_experiment(5), an_experiment(4)]
        assert [state.totals.causes for state in first] == [{Cause.GRADER: 1}] * 2
        rest = store.experiments.newest(9, before=first[-1].experiment.id)
        assert [state.experiment for state in rest] == [
            an_experiment(number) for number in (3, 2, 1)
        ]

    @pytest.fixture
    def mixed(self, store: Store, experiment: Experiment) -> list[Trial]:
        """Give trials of every kind, on record."""
        trials = []
        for n in range(40):
            for number in (1, 2):
                key = TrialKey(f"{n:02}", "default", experiment.arms[n % 2], number)
                verdict = ("passed", "failed", "undecided")[(n // 4 + number * (n % 3 == 0)) % 3]
                cause = Cause.TASK if n == 5 else Cause.GRADER if verdict == "undecided" else None
                took = None if n % 5 in (0, number) else float(n * 7 % 40)
                trials.append(a_trial(verdict=verdict, key=key, cause=cause, duration_s=took))
        for start in range(0, len(trials), 7):
            store.experiments.record(experiment.id, trials[start : start + 7], NOON)
        return trials

    @pytest.mark.parametrize("arm", [None, "candidate"])
    @pytest.mark.parametrize("only", [None, "failed", "flaky", "undecided"])
    def test_rows_are_filtered_counted_and_paged(
        self,
        store: Store,
        experiment: Experiment,
        mixed: list[Trial],
        only: str | None,
        arm: str | None,
    ) -> None:
        """Pages follow each other by key; the count is over all of them."""
        wanted = [
            row
            for row in rows_of(mixed)
            if arm in {None, row.arm}
            and {"failed": row.failed, "flaky": row.flaky, "undecided": row.undecided}.get(
                only or "", True
            )
        ]
        assert wanted
        query = RowQuery(only=only, limit=3, arm=arm)
        assert store.experiments.n_rows(experiment.id, query) == len(wanted)
        got: list[Row] = []
        while page := store.experiments.rows(experiment.id, query):
            got += page
            query = replace(query, after=(*page[-1].key, page[-1].arm))
        assert got == wanted
        counts = store.experiments.outcome_counts(experiment.id, arm)
        if only is None:
            assert counts == Counter((row.passed, row.decided) for row in wanted)

    def test_the_slowest_rows_come_first(
        self, store: Store, experiment: Experiment, mixed: list[Trial]
    ) -> None:
        """By their mean duration; a row of which nobody told how long it took is not among them."""
        slowest = store.experiments.rows(experiment.id, RowQuery(order="slowest", limit=99))
        timed = [row for row in rows_of(mixed) if row.timed]
        expected = sorted(timed, key=lambda row: -(row.mean_duration_s or 0.0))
        assert list(slowest) == expected

    @pytest.mark.parametrize(
        ("where", "holds"),
        [
            (TrialFilter(), lambda _: True),
            (
                TrialFilter(verdicts=frozenset({Verdict.FAILED, Verdict.UNDECIDED})),
                lambda trial: trial.verdict is not Verdict.PASSED,
            ),
            (
                TrialFilter(causes=frozenset({Cause.TASK, Cause.INFRA})),
                lambda trial: trial.cause is Cause.TASK,
            ),
            (
                TrialFilter(causes=frozenset({None, Cause.GRADER})),
                lambda trial: trial.cause is not Cause.TASK,
            ),
            (TrialFilter(arm="candidate"), lambda trial: trial.key.arm == "candidate"),
            (TrialFilter(case_id="07"), lambda trial: trial.key.case_id == "07"),
            (TrialFilter(verdicts=frozenset()), lambda _: False),
            (TrialFilter(causes=frozenset()), lambda _: False),
        ],
    )
    def test_trials_are_filtered(
        self,
        store: Store,
        experiment: Experiment,
        mixed: list[Trial],
        where: TrialFilter,
        holds: Callable[[Trial], bool],
    ) -> None:
        """Conditions add up; an empty set of them fits nothing."""
        got = list(store.experiments.trials(experiment.id, where))
        assert got == [trial for trial in mixed if holds(trial)]

    def test_keys_are_filtered_by_cause(
        self, store: Store, experiment: Experiment, mixed: list[Trial]
    ) -> None:
        """Only trials that have one of the causes."""
        keys = store.experiments.recorded_keys(experiment.id, frozenset({Cause.TASK}))
        assert keys == {trial.key for trial in mixed if trial.cause is Cause.TASK}

    def test_experiments_do_not_see_each_other(
        self, store: Store, experiment: Experiment, mixed: list[Trial]
    ) -> None:
        """The same keys in two experiments are two trials."""
        other = an_experiment(2)
        store.experiments.open_experiment(other, [])
        store.experiments.record(other.id, [a_trial("00")], NOON)
        assert_aggregates(store.experiments, other, [a_trial("00")])
        assert_aggregates(store.experiments, experiment, mixed)

    def test_trials_come_by_pages(self, store: Store, experiment: Experiment) -> None:
        """Reading goes on while others are recorded, also with graders that are new."""
        trials = [a_trial(f"{n:04}", number) for n in range(300) for number in (1, 2)]
        store.experiments.record(experiment.id, trials, NOON)
        reading = iter(store.experiments.trials(experiment.id))
        got = [next(reading)]
        last = a_trial("zz", scores=(Score("new", 0.5, passed=True),))
        store.experiments.record(experiment.id, [last], NOON)
        assert [*got, *reading] == [*trials, last]

    def test_a_graders_passes_are_counted_by_row(
        self, store: Store, experiment: Experiment
    ) -> None:
        """Missing scores do not count, nor do other graders, arms and experiments."""

        def scores(passed: bool | None) -> tuple[Score, ...]:  # noqa: FBT001  # a fact, no switch
            value = None if passed is None else float(passed)
            return Score("exact", value, passed), Score("judge", 1.0, passed=True)

        trials = [
            a_trial("a", 1, scores=scores(True)),  # noqa: FBT003  # as above
            a_trial("a", 2, scores=scores(False)),  # noqa: FBT003
            a_trial("b", 1, scores=scores(None)),
            a_trial(key=TrialKey("a", "default", "candidate", 1), scores=scores(True)),  # noqa: FBT003
        ]
        store.experiments.record(experiment.id, trials, NOON)
        passes = store.experiments.grader_passes(experiment.id, MAIN_ARM, "exact")
        assert passes == {CaseKey("a"): (1, 2)}
        assert store.experiments.grader_passes(experiment.id, "candidate", "judge") == {
            CaseKey("a"): (1, 1)
        }
        assert store.experiments.grader_passes(experiment.id, MAIN_ARM, "nobody") == {}

    def test_the_newest_of_one_dataset(self, store: Store, experiment: Experiment) -> None:
        """Other datasets are passed over, whatever their age."""
        for number, dataset in ((2, "other"), (3, experiment.dataset)):
            store.experiments.open_experiment(an_experiment(number, dataset=dataset), [])
        found = store.experiments.newest(10, dataset=experiment.dataset)
        ids = [state.experiment.id for state in found]
        assert ids == [an_experiment(3).id, experiment.id]
